import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import type { ExchangeRecord } from "cursor-cloud-agents/emulator";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { parse } from "yaml";

type Node = Record<string, unknown>;

/** One operation of openapi.yaml. */
export interface Operation {
  operationId: string;
  method: string;
  /** Template, e.g. `/v1/agents/{id}`. */
  path: string;
  /** On the official page that the contract starts from, not only on its newer version. */
  isBaseline: boolean;
  node: Node;
  pointer: string;
}

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;
const verbs = ["get", "post", "put", "patch", "delete"];
const contract = parse(readFileSync(new URL("../../openapi.yaml", import.meta.url), "utf8")) as Node;

/** Every operation of the contract, in its order. */
export const operations: readonly Operation[] = Object.entries(
  contract["paths"] as Record<string, Node>,
).flatMap(([path, item]) =>
  verbs
    .filter((verb) => verb in item)
    .map((verb) => {
      const node = item[verb] as Node;
      return {
        operationId: node["operationId"] as string,
        method: verb.toUpperCase(),
        path,
        isBaseline: node["x-evidence"] !== "newer" && item["x-evidence"] !== "newer",
        node,
        pointer: `#/paths/${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${verb}`,
      };
    }),
);

/** The operation a request is for; the storage's and unknown paths are none. */
export function findOperation(method: string, url: string): Operation | undefined {
  const segments = new URL(url).pathname.split("/");
  const fits = (template: string) => {
    const parts = template.split("/");
    return (
      parts.length === segments.length &&
      parts.every((part, index) => (part.startsWith("{") ? segments[index] !== "" : part === segments[index]))
    );
  };
  const candidates = operations.filter((operation) => operation.method === method && fits(operation.path));
  // A literal segment beats a parameter: /pools is no worker's id.
  return candidates.sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0];
}

/**
 * Holds an exchange against openapi.yaml: the request, if it was accepted, and the answer, with its headers, its error
 * code and each event of a stream. Answers are read strictly: a field that the contract doesn't know is a problem, too.
 */
export function checkExchange(exchange: ExchangeRecord): string[] {
  const { request, response } = exchange;
  const operation = findOperation(request.method, request.url);
  if (!operation || exchange.fault) return [];
  const problems = [...checkAnswer(operation, response)];
  if (response.status < 300) problems.push(...checkRequest(operation, request));
  return problems.map((problem) => `${operation.operationId} (${response.status}): ${problem}`);
}

const requests = createAjv(contract, { coerceTypes: false });
const queries = createAjv(contract, { coerceTypes: true });
const answers = createAjv(closeObjects(contract) as Node, { coerceTypes: false });
const compiled = new Map<string, ValidateFunction>();

function createAjv(document: Node, options: { coerceTypes: boolean }): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, ...options });
  addFormats(ajv);
  ajv.addSchema(document, "contract");
  return ajv;
}

/** One schema with the fields of all parts, which can be closed as a whole. */
function mergeParts({ allOf, ...rest }: Node): Node {
  const parts = (allOf as Node[]).map((part) =>
    typeof part["$ref"] === "string" ? follow(part["$ref"]).node : part,
  );
  return {
    ...rest,
    type: "object",
    required: parts.flatMap((part) => (part["required"] as string[] | undefined) ?? []),
    properties: Object.assign({}, ...parts.map((part) => part["properties"])),
  };
}

/** Says no to fields that the contract doesn't name, wherever a schema lists its fields. */
function closeObjects(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closeObjects);
  if (typeof node !== "object" || node === null) return node;
  if ("allOf" in node) return closeObjects(mergeParts(node as Node));
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, closeObjects(value)]),
  ) as Node;
  const isComposed = ["anyOf", "oneOf"].some((key) => key in copy);
  if (copy["type"] === "object" && "properties" in copy && !isComposed && !("additionalProperties" in copy)) {
    copy["additionalProperties"] = false;
  }
  return copy;
}

function validate(ajv: Ajv2020, pointer: string, value: unknown): string[] {
  const key = `${ajv === requests ? "request" : ajv === queries ? "query" : "answer"} ${pointer}`;
  const check = compiled.get(key) ?? ajv.compile({ $ref: `contract${pointer}` });
  compiled.set(key, check);
  if (check(value)) return [];
  return (check.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || "/"} ${message} ${JSON.stringify(params)}`,
  );
}

function follow(pointer: string): { node: Node; pointer: string } {
  const node = pointer
    .slice(2)
    .split("/")
    .reduce<unknown>(
      (at, part) => (at as Node)[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")],
      contract,
    ) as Node;
  return typeof node["$ref"] === "string" ? follow(node["$ref"]) : { node, pointer };
}

function checkRequest(operation: Operation, request: ExchangeRecord["request"]): string[] {
  const problems: string[] = [];
  const url = new URL(request.url);
  const item = follow(operation.pointer.replace(/\/[a-z]+$/, "")).node;
  const lists = [
    ...((item["parameters"] as Node[]) ?? []),
    ...((operation.node["parameters"] as Node[]) ?? []),
  ];
  const parameters = lists.map((entry) =>
    typeof entry["$ref"] === "string" ? follow(entry["$ref"]) : undefined,
  );
  const declared = lists.map((entry, index) => parameters[index]?.node ?? entry);
  for (const [name, value] of url.searchParams) {
    const index = declared.findIndex(
      (parameter) => parameter["in"] === "query" && parameter["name"] === name,
    );
    if (index < 0) problems.push(`query parameter ${name} is not documented`);
    else {
      const pointer = parameters[index]?.pointer;
      if (pointer)
        problems.push(
          ...validate(queries, `${pointer}/schema`, value).map((text) => `query ${name}: ${text}`),
        );
    }
  }
  for (const parameter of declared) {
    const name = String(parameter["name"]);
    if (parameter["in"] === "query" && parameter["required"] === true && !url.searchParams.has(name)) {
      problems.push(`query parameter ${name} is missing`);
    }
  }
  const hasBody = "requestBody" in operation.node;
  // An empty object is taken where nothing is asked for; an announced body that is none is not.
  const isEmptyObject = request.bodyText.trim() === "{}";
  if (
    !hasBody &&
    !isEmptyObject &&
    (request.bodyText !== "" || request.headers["content-type"] !== undefined)
  ) {
    problems.push("sends a body, or the type of one, where none is documented");
  }
  if (hasBody) {
    const pointer = `${operation.pointer}/requestBody/content/application~1json/schema`;
    problems.push(
      ...validate(requests, pointer, JSON.parse(request.bodyText)).map((text) => `request body: ${text}`),
    );
  }
  return problems;
}

function checkAnswer(operation: Operation, response: ExchangeRecord["response"]): string[] {
  const responses = operation.node["responses"] as Record<string, Node>;
  const name = [String(response.status), `${Math.floor(response.status / 100)}XX`, "default"].find(
    (key) => key in responses,
  );
  if (name === undefined) return [`status ${response.status} is not documented`];
  const { node, pointer } = follow(`${operation.pointer}/responses/${name}`);
  const content = (node["content"] ?? {}) as Record<string, Node>;
  const type = response.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (Object.keys(content).length === 0) {
    return response.bodyText === "" && type === ""
      ? []
      : ["has a body, or the type of one, and none is documented"];
  }
  if (!(type in content)) return [`content type ${type || "(none)"} is not documented`];
  const problems: string[] = [];
  for (const [header, value] of Object.entries((node["headers"] ?? {}) as Record<string, Node>)) {
    const declared = typeof value["$ref"] === "string" ? follow(value["$ref"]).node : value;
    if (declared["required"] === true && response.headers[header.toLowerCase()] === undefined) {
      problems.push(`header ${header} is missing`);
    }
  }
  const base = `${pointer}/content/${type.replaceAll("/", "~1")}`;
  if (type === "text/event-stream")
    return [...problems, ...checkEvents(base, content[type] as Node, response.bodyText)];
  const body: unknown = JSON.parse(response.bodyText);
  problems.push(...validate(answers, `${base}/schema`, body).map((text) => `answer: ${text}`));
  if (response.status >= 400) problems.push(...checkCode(operation, response.status, body));
  return problems;
}

function checkCode(operation: Operation, status: number, body: unknown): string[] {
  const known = (operation.node["x-error-codes"] as Record<string, string[]> | undefined)?.[String(status)];
  const code = ((body as Node)["error"] as Node | undefined)?.["code"];
  if (typeof code !== "string" || !known || known.includes(code)) return [];
  return [`error code ${code} is not documented for ${status}`];
}

/** Frames of an event stream, as a browser would read them. */
export function parseFrames(text: string): EventSourceMessage[] {
  const frames: EventSourceMessage[] = [];
  createParser({ onEvent: (frame) => frames.push(frame) }).feed(text);
  return frames;
}

function checkEvents(base: string, media: Node, text: string): string[] {
  const events = media["x-sse-events"] as Record<string, { id: string }>;
  let hasResult = false;
  return parseFrames(text).flatMap((frame) => {
    const name = frame.event ?? "message";
    const event = events[name];
    if (!event) return [`event ${name} is not documented`];
    hasResult ||= name === "result";
    const wantsId = event.id === "always" || (event.id === "after-result" && hasResult);
    const problems =
      wantsId === (frame.id !== undefined) ? [] : [`event ${name} ${wantsId ? "lacks an" : "has an"} id`];
    const { pointer } = follow(`${base}/x-sse-events/${name}/schema`);
    return [
      ...problems,
      ...validate(answers, pointer, JSON.parse(frame.data)).map((problem) => `event ${name}: ${problem}`),
    ];
  });
}
