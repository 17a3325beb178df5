import type { Page } from "playwright-core";

/** Every text that can be seen and whose contrast to what is behind it is below 4.5, with that contrast. */
export const faintTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
    // However a colour is written, the canvas turns it into bytes.
    const toBytes = (color: string) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return canvas.getImageData(0, 0, 1, 1).data;
    };
    const luminance = (color: string) => {
      const [red = 0, green = 0, blue = 0] = [...toBytes(color)].map((byte) => {
        const part = byte / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const backgroundOf = (element: Element | null): string => {
      if (!element) return "white";
      const { backgroundColor } = getComputedStyle(element);
      return toBytes(backgroundColor)[3] === 255 ? backgroundColor : backgroundOf(element.parentElement);
    };
    const faint: string[] = [];
    const check = (text: string, element: Element, color: string) => {
      const [lighter = 0, darker = 0] = [luminance(color), luminance(backgroundOf(element))].sort(
        (a, b) => b - a,
      );
      const contrast = (lighter + 0.05) / (darker + 0.05);
      if (contrast < 4.5) faint.push(`${contrast.toFixed(2)}: ${text}`);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let checked = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim();
      const element = node.parentElement!;
      if (!text || !element.checkVisibility()) continue;
      checked++;
      check(text, element, getComputedStyle(element).color);
    }
    for (const field of document.querySelectorAll("[placeholder]")) {
      check("a placeholder", field, getComputedStyle(field, "::placeholder").color);
    }
    return checked < 5 ? ["there is hardly any text"] : faint;
  });
