/** Bytes for people: `3 B`, `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  return bytes < 1024 ** 3
    ? `${(bytes / 1024 ** 2).toFixed(1)} MiB`
    : `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

/** Milliseconds for people: `950 ms`, `1.5 s`, `1 min 23 s`, `3 h 1 min`, `5 days`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, "")} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.round((ms % 60_000) / 1_000);
  if (minutes < 60) return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** How long ago a server's timestamp was; a text that is not a date stays as it is. */
export function formatAge(time: string, now: number): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  const past = now - at;
  if (past < 60_000) return "just now";
  if (past < 3_600_000) return `${Math.floor(past / 60_000)} min ago`;
  if (past < 48 * 3_600_000) return `${Math.floor(past / 3_600_000)} h ago`;
  return `${Math.floor(past / 86_400_000)} days ago`;
}

export const formatCount = (value: number): string => value.toLocaleString("en-US");

/** `1 file`, `2 files`, `1,000 repositories`. */
export const formatPlural = (number: number, noun: string, nouns = `${noun}s`): string =>
  `${formatCount(number)} ${number === 1 ? noun : nouns}`;

/** Quotes a word where a POSIX shell would not read it literally. */
export const formatShellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
