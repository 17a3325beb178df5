import { describe, expect, it } from "vitest";
import { formatAge, formatBytes, formatDuration, formatShellWord } from "../../src/cli/format.ts";

describe("formats for people and shells", () => {
  it.each([
    [0, "0 ms"],
    [950, "950 ms"],
    [1_000, "1 s"],
    [1_500, "1.5 s"],
    [60_000, "1 min"],
    [83_000, "1 min 23 s"],
    [3 * 3_600_000 + 60_000, "3 h 1 min"],
    [5 * 86_400_000, "5 days"],
  ])("a duration of %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

  it("a size and an age", () => {
    expect([
      formatBytes(0),
      formatBytes(1023),
      formatBytes(1024),
      formatBytes(5 * 1024 ** 2),
      formatBytes(2 * 1024 ** 3),
    ]).toEqual(["0 B", "1023 B", "1.0 KiB", "5.0 MiB", "2.0 GiB"]);
    const now = Date.parse("2026-01-10T00:00:00Z");
    expect(formatAge("2026-01-09T23:59:30Z", now)).toBe("just now");
    expect(formatAge("2026-01-01T00:00:00Z", now)).toBe("9 days ago");
    expect(formatAge("whenever", now)).toBe("whenever");
  });

  it("quotes a word that a shell would not read literally", () => {
    expect(formatShellWord("1713033006000-0")).toBe("1713033006000-0");
    expect(formatShellWord("a b; rm $(x) 'y'")).toBe(`'a b; rm $(x) '\\''y'\\'''`);
    expect(formatShellWord("")).toBe("''");
  });
});
