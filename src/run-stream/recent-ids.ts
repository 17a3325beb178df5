import { copyText } from "../http/copy-text.ts";

/** So many of the latest ids are remembered at least, to recognise a server that replays more than was asked for. */
const rememberedIds = 10_000;
/** Characters of a generation; a server of endless ids must not fill the memory. */
const rememberedCharacters = 3 * 1024 * 1024;

interface Generation {
  /** Ids, joined by what can't be in one. */
  blocks: string[];
  ids: number;
  characters: number;
}

const separator = "\n";
const emptyGeneration = (): Generation => ({ blocks: [], ids: 0, characters: 0 });
const idsOf = ({ blocks }: Generation): string[] => blocks.flatMap((block) => block.split(separator));

/**
 * The latest ids of a stream. They are looked through only when a connection broke, so a stream on which none does pays
 * for no more than a text of them.
 *
 * In two generations: when the newer one is full, the older one is forgotten as a whole.
 */
export class RecentIds {
  /** Ids were added that are not remembered any more. */
  hasForgotten = false;
  #newer = emptyGeneration();
  #older = emptyGeneration();
  /** All of them, from the first look on. */
  #index: Set<string> | undefined;

  get isEmpty(): boolean {
    return this.#newer.ids + this.#older.ids === 0;
  }

  has(id: string): boolean {
    this.#index ??= new Set([...idsOf(this.#older), ...idsOf(this.#newer)]);
    return this.#index.has(id);
  }

  /** Adds ids, of a whole chunk at best: to copy many at once costs a fraction of copying each. */
  add(ids: string[]): void {
    const newer = this.#newer;
    // A join makes a text of its own, but not of one alone.
    const block = ids.length === 1 ? copyText(ids[0] as string) : ids.join(separator);
    newer.blocks.push(block);
    newer.ids += ids.length;
    newer.characters += block.length;
    if (this.#index) for (const id of block.split(separator)) this.#index.add(id);
    if (newer.ids < rememberedIds && newer.characters < rememberedCharacters) return;
    this.hasForgotten ||= this.#older.ids > 0;
    this.#older = newer;
    this.#newer = emptyGeneration();
    this.#index = undefined;
  }
}
