// Makes generated/openapi.ts from openapi.yaml. With --check nothing is written: a stale file ends with exit code 1.

import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString, type OpenAPITSOptions } from "openapi-typescript";
import ts from "typescript";

const source = new URL("../../openapi.yaml", import.meta.url);
const target = new URL("../../generated/openapi.ts", import.meta.url);

const header = `// Made from openapi.yaml by "npm run generate". Never edited.\n\n`;

/** A component marked \`x-open-enum\` becomes \`"A" | "B" | (string & {})\`: completion for what is known, room for what is not. */
function openEnum(schema: unknown): ts.TypeNode | undefined {
  const { "x-open-enum": marked, anyOf } = schema as {
    "x-open-enum"?: boolean;
    anyOf?: { enum?: string[] }[];
  };
  if (!marked) return undefined;
  const known = anyOf?.flatMap((branch) => branch.enum ?? []) ?? [];
  if (known.length === 0) throw new Error("x-open-enum without known values");
  const f = ts.factory;
  const anyString = f.createIntersectionTypeNode([
    f.createKeywordTypeNode(ts.SyntaxKind.StringKeyword),
    f.createTypeLiteralNode([]),
  ]);
  return f.createUnionTypeNode([
    ...known.map((value) => f.createLiteralTypeNode(f.createStringLiteral(value))),
    f.createParenthesizedType(anyString),
  ]);
}

const options: OpenAPITSOptions = {
  alphabetize: true,
  defaultNonNullable: false, // a default is the server's: the field stays optional for the caller
  emptyObjectsUnknown: true, // objects without listed fields are open, not empty
  silent: true,
  // `transform` sees schemas with a `type` only, and an open enumeration has none: it is found by its place instead.
  postTransform(_type, { path, ctx }) {
    if (!path || !/^#\/components\/schemas\/[^/]+$/.test(path)) return undefined;
    return openEnum(ctx.resolve(path));
  },
};

/** The operations' names by themselves: whoever needs only these must not bring along what each sends and answers. */
function operationId(nodes: ts.Node[]): string {
  const operations = nodes.find(
    (node): node is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(node) && node.name.text === "operations",
  );
  const ids = operations?.members.map(
    ({ name }) => `\n    | "${(name as ts.Identifier | ts.StringLiteral).text}"`,
  );
  if (!ids) throw new Error("no operations");
  return `export type OperationId =${ids.join("")};\n`;
}

const nodes = await openapiTS(source, options);
const generated = header + astToString(nodes) + operationId(nodes);

if (process.argv.includes("--check")) {
  const current = await readFile(target, "utf8").catch(() => "");
  if (current !== generated) {
    console.error("generated/openapi.ts is not what openapi.yaml says. Run: npm run generate");
    process.exit(1);
  }
} else {
  await writeFile(target, generated);
}
