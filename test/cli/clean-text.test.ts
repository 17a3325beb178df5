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
