/**
 * A text of its own. Engines make a piece of a text a view of the whole: 15 characters that are kept would keep the
 * chunk, the frame or the page they were cut from.
 */
export const copyText = (text: string): string => JSON.parse(JSON.stringify(text)) as string;
