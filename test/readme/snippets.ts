/** One `ts` or `tsx` block of a Markdown text. */
export interface Snippet {
  /** The heading it stands under, and its number there. */
  name: string;
  code: string;
  /** It holds JSX. */
  isPage?: true;
  /** Where its code begins in the text: the first line is 1. */
  line: number;
  /** Why it is not run, as an HTML comment right above it says: `<!-- not run: … -->`. */
  notRun?: string;
}

/** Every `ts` and `tsx` block, in order. Other blocks are left alone. */
export function extractSnippets(markdown: string): Snippet[] {
  const snippets: Snippet[] = [];
  const perHeading = new Map<string, number>();
  let heading = "";
  let open: { info: string; line: number; code: string[]; notRun?: string } | undefined;
  let above = "";
  markdown.split("\n").forEach((text, index) => {
    const fence = /^```(.*)$/.exec(text);
    if (open && fence) {
      if (open.info === "ts" || open.info === "tsx") {
        const { code, line, notRun } = open;
        const number = (perHeading.get(heading) ?? 0) + 1;
        perHeading.set(heading, number);
        const name = `${heading} ${number}`;
        snippets.push({
          name,
          code: code.join("\n"),
          line,
          ...(open.info === "tsx" ? { isPage: true } : {}),
          ...(notRun === undefined ? {} : { notRun }),
        });
      }
      open = undefined;
    } else if (open) {
      open.code.push(text);
    } else if (fence) {
      const notRun = /^<!-- not run: (.+) -->$/.exec(above)?.[1];
      open = {
        info: fence[1]?.trim() ?? "",
        line: index + 2,
        code: [],
        ...(notRun === undefined ? {} : { notRun }),
      };
    } else if (/^#+ /.test(text)) {
      heading = text.replace(/^#+ /, "");
    }
    if (text.trim() !== "") above = text.trim();
  });
  if (open) throw new Error(`the block of line ${open.line} has no end`);
  return snippets;
}
