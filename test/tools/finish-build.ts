/**
 * The last step of `npm run build`: writes the licences of the packages that are bundled, and takes out of the source maps
 * what nobody reads, which is more than a third of the package.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What is bundled, so that it adds nothing to anybody's installation: package by folder. */
const bundled = { zod: "emulator", commander: "cli" };

const licences = Object.entries(bundled).map(([name, folder]) => {
  const root = join("node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const text = readFileSync(join(root, "LICENSE"), "utf8");
  return `${name} ${version} (${license}), parts of which are in dist/${folder}\n\n${text}`;
});
writeFileSync("dist/THIRD-PARTY-LICENSES.txt", licences.join("\n"));

for (const name of readdirSync("dist", { recursive: true, encoding: "utf8" })) {
  if (!name.endsWith(".js.map")) continue;
  const path = join("dist", name);
  const map = JSON.parse(readFileSync(path, "utf8")) as { sources: string[]; sourcesContent: string[] };
  if (map.sources.every((source) => /src\/emulator\/|node_modules\//.test(source))) {
    // The emulator is used in tests: it goes without a map, as other packages' code does.
    const script = path.replace(/\.map$/, "");
    rmSync(path);
    writeFileSync(script, readFileSync(script, "utf8").replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n"));
  } else {
    // The documentation is in the declarations. Its lines stay, empty: the map counts them.
    map.sourcesContent = map.sourcesContent.map((source) =>
      source.replace(/^ *\/\*\*[\s\S]*?\*\/$/gm, (comment) => comment.replace(/.+/g, "")),
    );
    writeFileSync(path, JSON.stringify(map));
  }
}
