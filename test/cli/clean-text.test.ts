import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cleanLine,
  cleanText,
  displayWidth,
  padEnd,
  padStart,
  shorten,
  TextCleaner,
  toJsonLine,
} from "../../src/cli/clean-text.ts";
import { costOf } from "./helpers.ts";

/** Characters that a terminal acts on. */
const orders = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe("text is cleaned", () => {
  it("in pieces, wherever the text is cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.array(fc.nat(40)), (text, cuts) => {
        const cleaner = new TextCleaner();
        const at = [...cuts].sort((one, other) => one - other);
        const pieces = at.map((cut, index) => text.slice(at[index - 1] ?? 0, cut));
        const whole =
          [...pieces, text.slice(at.at(-1) ?? 0)].map((piece) => cleaner.add(piece)).join("") + cleaner.end();
        expect(whole).toBe(cleanText(text));
        expect(whole).not.toMatch(orders);
        expect(cleanLine(text)).not.toMatch(/[\n\t]/);
        expect(JSON.parse(toJsonLine(text))).toBe(text);
      }),
    );
  });
});

describe("widths", () => {
  it("are counted in columns", () => {
    expect(["abc", "日本", "e\u0301", "👩‍👩‍👧", "한", "", "…"].map(displayWidth)).toEqual([
      3, 4, 1, 2, 2, 0, 1,
    ]);
    expect([padEnd("日本", 6), padStart("日本", 6)]).toEqual(["日本  ", "  日本"]);
    expect([shorten("abcdef", 4), shorten("日本語", 4), shorten("abc", 3), shorten("abc", 0)]).toEqual([
      "abc…",
      "日…",
      "abc",
      "",
    ]);
  });
});

describe("text that an agent makes long costs little", () => {
  const long: [string, string][] = [
    ["letters", "x".repeat(300_000)],
    ["other letters", "é日".repeat(150_000)],
    ["accents without a letter", "\u0301".repeat(300_000)],
    ["a letter with accents", `e${"\u0301".repeat(300_000)}`],
    ["joined emoji", "👩\u200d".repeat(100_000)],
    ["flags", "🇩🇪".repeat(75_000)],
    ["zero-width characters", "\u200b".repeat(300_000)],
    ["control characters", "\u001b".repeat(300_000)],
    ["carriage returns", "\r".repeat(300_000)],
    ["half surrogate pairs", "\ud83d".repeat(300_000)],
    ["blanks", `a${" ".repeat(300_000)}b`],
  ];

  it.each(long)("%s", (_, text) => {
    const cleaner = new TextCleaner();
    let line = "";
    const cleaning = costOf(() => {
      cleaner.add(text);
      cleaner.end();
      line = cleanLine(text);
      toJsonLine(text);
    });
    expect(cleaning).toBeLessThan(2_000);
    const measuring = costOf(() => {
      shorten(line, 80);
      displayWidth(line);
      padEnd(line, 10);
    });
    expect(measuring).toBeLessThan(500);
    expect(displayWidth(shorten(line, 80))).toBeLessThanOrEqual(80);
    expect(shorten(line, 80).length).toBeLessThanOrEqual(80 * 32 + 1);
    expect(shorten(line, Number.POSITIVE_INFINITY)).toBe(line);
  });

  it("and is measured as if it had been measured at once", () => {
    const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
    const piece = fc.constantFrom("a", "é", "e\u0301", "日", "👩‍👩‍👧", "🇩🇪", "한", "\u200b", "❤️", " ");
    fc.assert(
      fc.property(fc.array(piece, { minLength: 100, maxLength: 300 }), fc.nat(200), (pieces, columns) => {
        const text = pieces.join("");
        const graphemes = Array.from(segmenter.segment(text), ({ segment }) => segment);
        const width = graphemes.reduce((sum, grapheme) => sum + displayWidth(grapheme), 0);
        expect(displayWidth(text)).toBe(width);
        const short = shorten(text, columns);
        expect(short === text).toBe(width <= columns);
        expect(displayWidth(short)).toBeLessThanOrEqual(columns);
        if (width > columns && columns > 1) expect(displayWidth(short)).toBeGreaterThanOrEqual(columns - 1);
      }),
    );
  });
});
