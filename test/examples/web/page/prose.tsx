import { memo, type ReactNode } from "react";

/** The little Markdown that agents write: paragraphs, lists, headings, code. Becomes elements, never HTML. */
export function Prose({ text }: { text: string }) {
  // Blocks that are complete keep their text, so that only the growing one is rendered anew.
  return withPlaces(toBlocks(text)).map(({ place, piece }) => <Block key={place} text={piece} />);
}

/** Splits at blank lines, but never inside a fence. */
function toBlocks(text: string): string[] {
  const blocks: string[] = [];
  for (const piece of text.split(/\n{2,}/)) {
    const last = blocks.at(-1);
    const isInFence = last?.startsWith("```") && last.split("```").length % 2 === 0;
    if (isInFence) blocks[blocks.length - 1] = `${last}\n\n${piece}`;
    else if (piece.trim() !== "") blocks.push(piece);
  }
  return blocks;
}

const Block = memo(function Block({ text }: { text: string }) {
  if (text.startsWith("```")) return <pre className="code">{text.replace(/^```.*\n?|\n?```\s*$/g, "")}</pre>;
  const heading = /^#{1,6} (.+)$/.exec(text.trim());
  if (heading) return <p className="subhead">{inline(heading[1]!)}</p>;
  if (!/^\s*[-*] /.test(text)) return <p>{inline(text)}</p>;
  return (
    <ul>
      {withPlaces(text.split(/\n(?=\s*[-*] )/)).map(({ place, piece }) => (
        <li key={place}>{inline(piece.replace(/^\s*[-*] /, ""))}</li>
      ))}
    </ul>
  );
});

function inline(text: string): ReactNode[] {
  return withPlaces(text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/)).map(({ place, piece }, index) => {
    if (index % 2 === 0) return piece;
    if (piece.startsWith("`")) return <code key={place}>{piece.slice(1, -1)}</code>;
    return <strong key={place}>{inline(piece.slice(2, -2))}</strong>;
  });
}

/** Pieces with where they begin: a key that stays as the text grows. */
function withPlaces(pieces: string[]): { place: number; piece: string }[] {
  let next = 0;
  return pieces.map((piece) => {
    const place = next;
    next += piece.length;
    return { place, piece };
  });
}
