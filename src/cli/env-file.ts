import { UsageError } from "./command-failure.ts";

// Each pattern is matched at one position and stays on one line, so that its cost doesn't grow with the file.
/** `NAME=`, `export NAME =` or `NAME: `. */
const assignment = /[^\S\n]*(?:export[^\S\n]+)?([A-Za-z_]\w*)[^\S\n]*(?:=|:(?=\s))[^\S\n]*/y;
const unquoted = /[^#\n]*/y;
const blankOrComment = /[^\S\n]*(?:#[^\n]*)?(?=\n|$)/y;

/** Where the match at this position ends, or undefined where there is none. */
function matchEnd(pattern: RegExp, text: string, position: number): number | undefined {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/**
 * Reads the variables of an env file by the rules of dotenv: comments, `export`, values in `"`, `'` or backticks that may go
 * over several lines, and `\n` and `\r` as line breaks in double quotes. An unquoted value ends at the first `#`. Of two
 * values for one name the later one wins.
 *
 * A line that these rules don't cover is rejected and never guessed at, because a wrong guess would be sent as a secret.
 * @throws UsageError It names the line and doesn't quote it
 */
export function parseEnvFile(path: string, content: string): Map<string, string> {
  const text = content.replace(/\r\n?/g, "\n");
  const variables = new Map<string, string>();
  let position = 0;
  const fail = (problem: string) => {
    const line = text.slice(0, position).split("\n").length;
    return new UsageError(`${path}: line ${line} ${problem}`);
  };
  while (position < text.length) {
    let end = matchEnd(blankOrComment, text, position);
    if (end === undefined) {
      assignment.lastIndex = position;
      const name = assignment.exec(text)?.[1];
      if (name === undefined) throw fail("is not NAME=value");
      const start = assignment.lastIndex;
      const isQuoted = /^["'`]/.test(text.slice(start, start + 1));
      const value = isQuoted ? readQuoted(text, start) : readUnquoted(text, start);
      if (value === undefined)
        throw fail(`has a ${text[start]} that is not closed, or text after the closing one`);
      variables.set(name, value.text);
      end = value.end;
    }
    position = end + 1;
  }
  return variables;
}

/** A value, and where its line ends. */
interface Value {
  text: string;
  end: number;
}

function readUnquoted(text: string, start: number): Value {
  const end = matchEnd(unquoted, text, start) as number;
  return { text: text.slice(start, end).trim(), end: matchEnd(blankOrComment, text, end) as number };
}

/** Returns undefined where no quote closes the value, or where something other than a comment follows that quote. */
function readQuoted(text: string, start: number): Value | undefined {
  const quote = text[start] as string;
  // An escaped quote doesn't close the value, unless no other one does: "C:\folder\" is a value, too.
  const candidates: number[] = [];
  let close = text.indexOf(quote, start + 1);
  while (close >= 0) {
    candidates.push(close);
    if (text[close - 1] !== "\\") break;
    close = text.indexOf(quote, close + 1);
  }
  for (const candidate of candidates.reverse()) {
    const end = matchEnd(blankOrComment, text, candidate + 1);
    if (end === undefined) continue;
    const inner = text.slice(start + 1, candidate);
    return { text: quote === '"' ? inner.replace(/\\n/g, "\n").replace(/\\r/g, "\r") : inner, end };
  }
  return undefined;
}
