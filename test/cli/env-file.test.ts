import { describe, expect, it } from "vitest";
import { parseEnvFile } from "../../src/cli/env-file.ts";
import { costOf } from "./helpers.ts";

const parse = (text: string) => Object.fromEntries(parseEnvFile("env", text));

describe("an env file is read by the rules of dotenv", () => {
  it.each<[string, string, string]>([
    ["a comment after a value", "A=abc123 # staging", "abc123"],
    ["a comment without a blank before it", "A=abc#1", "abc"],
    ["a comment after a quoted value", 'A="abc123" # staging', "abc123"],
    ["a comment right after a quoted value", "A='abc123'# staging", "abc123"],
    ["a comment with quotes", 'A="abc" # or "def"', "abc"],
    ["a comment with one quote", "A='abc' # don't", "abc"],
    ["a comment in place of a value", "A= # none", ""],
    ["no value", "A=", ""],
    ["an empty quoted value", 'A=""', ""],
    ["line breaks in double quotes", 'A="a\\nb\\rc"', "a\nb\rc"],
    ["no other escapes", 'A="a\\tb\\\\c"', "a\\tb\\\\c"],
    ["no escapes in single quotes", "A='a\\nb'", "a\\nb"],
    ["no escapes in backticks", "A=`a\\nb`", "a\\nb"],
    ["no escapes without quotes", "A=a\\nb", "a\\nb"],
    ["backticks", 'A=`it\'s "so"`', 'it\'s "so"'],
    ["a value of several lines", 'A="-----BEGIN\none\n-----END" # key', "-----BEGIN\none\n-----END"],
    ["a value of several lines that end in CRLF", "A='one\r\ntwo'\r\n", "one\ntwo"],
    ["a # in each kind of quotes", 'A="a # b"', "a # b"],
    ["a # in single quotes", "A='a#b' # c", "a#b"],
    ["blanks in quotes", "A='  a  '", "  a  "],
    ["blanks around everything", "  export   A =  a b \t", "a b"],
    ["quotes inside a value", `A={"a": "b"}`, `{"a": "b"}`],
    ["escaped quotes, which keep their backslash", 'A="{\\"a\\":1}"', '{\\"a\\":1}'],
    ["a path that ends in a backslash", 'A="C:\\bin\\"\nB="x"', "C:\\bin\\"],
    ["an equals sign in a value", "A=a==", "a=="],
    ["a dollar sign, which is not expanded", "A=$HOME", "$HOME"],
    ["a colon in place of the equals sign", "A: a", "a"],
    ["the later of two values", "A=b\nA=a", "a"],
    ["blank lines and comments around it", "\n# A=1\n \t\n  # x\nA=a\n\n", "a"],
    ["line ends of old and new", "X=1\rY=2\r\nA=a\r\n", "a"],
    ["no line end at the end", "X=1\nA='a'", "a"],
  ])("%s", (_, text, value) => expect(parse(text)["A"]).toBe(value));

  it("with names that objects have already", () => {
    const variables = parse("__proto__=abc\nconstructor=def\nexport=1");
    expect(JSON.stringify(variables)).toBe('{"__proto__":"abc","constructor":"def","export":"1"}');
  });

  it.each<[string, string, number]>([
    ["a quote that is not closed", 'X=1\nA="abc', 2],
    ["a quote that another quote doesn't close", "A=\"abc'", 1],
    ["a backtick that is not closed", "A=`abc\nB=1", 1],
    ["text after the closing quote", "X='1\n2'\nA=\"abc\"def # x", 3],
    ["a second quoted text", "A='abc' 'def'", 1],
    ["a line without a name", "=abc", 1],
    ["a line without an equals sign", "X=1\n\n  abc\n", 3],
    ["a name with a blank", "A B=abc", 1],
    ["a name that begins with a digit", "1A=abc", 1],
    ["a name with a dash", "A-B=abc", 1],
  ])("and rejects, with the line's number, %s", (_, text, line) => {
    expect(() => parse(text)).toThrow(new RegExp(`^env: line ${line} `));
    expect(() => parse(text)).not.toThrow(/abc/);
  });

  it.each([
    ["blanks", " ".repeat(500_000)],
    ["a name and blanks", `A${" ".repeat(500_000)}x`],
    ["blanks in a value", `A=a${" ".repeat(500_000)}b`],
    ["quotes", `A=${'"\\'.repeat(100_000)}`],
    ["escaped quotes with blanks", `A="${'\\" '.repeat(100_000)}`],
    ["line ends", "\n".repeat(500_000)],
    ["comment signs", `A="a"${" #".repeat(200_000)}`],
  ])("in a time that doesn't grow faster than the file: %s", (_, text) => {
    const cost = costOf(() => {
      try {
        parse(text);
      } catch {}
    });
    expect(cost).toBeLessThan(1_000);
  });
});
