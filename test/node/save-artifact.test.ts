import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CursorEmulator, ManualClock } from "cursor-cloud-agents/emulator";
import { saveArtifact } from "cursor-cloud-agents/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { failure } from "../support/waiting.ts";
import { patterned, servedStage, stage, temporaryFolder, text, tree } from "./helpers.ts";

const path = "artifacts/sub/report.md";
const report = "0123456789";

describe("saveArtifact", () => {
  it("saves to a file, whose folders it makes, and says where and how much", async () => {
    const { cursor, agentId, folder } = stage({ [path]: report });
    const seen: object[] = [];
    const to = join(folder, "a", "b.md");
    const saved = await saveArtifact(cursor, agentId, path, {
      to,
      onProgress: (progress) => seen.push(progress),
    });
    expect(saved).toEqual({ path, file: to, sizeBytes: 10, contentType: "text/markdown" });
    expect(text(to)).toBe(report);
    expect(seen).toEqual([{ loaded: 10, total: 10 }]);
    expect(tree(folder)).toEqual(["a/", "a/b.md"]);
  });

  it("saves into an existing folder under the artifact's own name", async () => {
    const { cursor, agentId, folder } = stage({ [path]: report });
    const { file } = await saveArtifact(cursor, agentId, path, { to: folder });
    expect(file).toBe(join(folder, "report.md"));
    expect(text(file)).toBe(report);
  });

  it("saves over HTTP", async () => {
    const bytes = patterned(1_000_000);
    const { cursor, agentId, folder } = await servedStage({ [path]: bytes }, checkedEmulator());
    const { file, sizeBytes } = await saveArtifact(cursor, agentId, path, { to: folder });
    expect(sizeBytes).toBe(1_000_000);
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it("saves an empty file, and replaces an older one", async () => {
    const { cursor, agentId, folder } = stage({ [path]: "" });
    writeFileSync(join(folder, "report.md"), "old");
    expect((await saveArtifact(cursor, agentId, path, { to: folder })).sizeBytes).toBe(0);
    expect(text(folder, "report.md")).toBe("");
  });

  it("lets nobody else read what is not whole, and gives the usual rights to what is", async () => {
    const { cursor, agentId, folder } = stage({ [path]: report });
    const modes: number[] = [];
    const mode = (name: string) => lstatSync(join(folder, name)).mode & 0o777;
    const onProgress = () => modes.push(...readdirSync(folder).map(mode));
    await saveArtifact(cursor, agentId, path, { to: folder, onProgress });
    expect(modes).toEqual([0o600, 0o600]);
    expect(mode("report.md")).toBe(0o666 & ~process.umask());
  });

  it("never shows the target before it is whole", async () => {
    const { cursor, agentId, folder } = stage({ [path]: patterned(300_000) });
    const names = new Set<string>();
    const onProgress = () => {
      for (const name of readdirSync(folder)) names.add(name.replace(/-[0-9a-f].*\./, "-…."));
    };
    await saveArtifact(cursor, agentId, path, { to: folder, onProgress });
    expect([...names].sort()).toEqual([".cursor-part-….bytes", ".cursor-part-….json"]);
    expect(tree(folder)).toEqual(["report.md"]);
  });
});

describe("a broken download", () => {
  it.each([
    ["a reset", {}],
    ["a short body that ends as if it were whole", { clean: true }],
  ])("after %s goes on by Range", async (_name, cut) => {
    const bytes = patterned(200_000);
    const { cursor, agentId, folder, emulator, downloads } = stage({ [path]: bytes });
    emulator.faults.cut("getArtifactBytes", { afterBytes: 70_000, ...cut });
    const { file } = await saveArtifact(cursor, agentId, path, { to: folder });
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(downloads().map(({ headers }) => headers["range"])).toEqual([undefined, "bytes=70000-"]);
  });

  it("renews a URL that expired in between", async () => {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock, urlLifetimeSeconds: 60 });
    const bytes = patterned(200_000);
    let calls = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (++calls === 3) await clock.advance(61_000);
      return emulator.fetch(input, init);
    };
    const { cursor, agentId, folder, downloads } = stage({ [path]: bytes }, { emulator, fetch });
    emulator.faults.cut("getArtifactBytes", { afterBytes: 70_000 });
    const { file } = await saveArtifact(cursor, agentId, path, { to: folder });
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(downloads().map(({ status }) => status)).toEqual([200, 403, 206]);
  });

  it("starts again when the file was changed in between", async () => {
    const emulator = checkedEmulator();
    const newer = patterned(50_000).reverse();
    let calls = 0;
    const fetch: typeof globalThis.fetch = (input, init) => {
      if (++calls === 3) emulator.addArtifact(parts.agentId, path, newer);
      return emulator.fetch(input, init);
    };
    const parts = stage({ [path]: patterned(200_000) }, { emulator, fetch });
    emulator.faults.cut("getArtifactBytes", { afterBytes: 70_000 });
    const { file, sizeBytes } = await saveArtifact(parts.cursor, parts.agentId, path, { to: parts.folder });
    expect(sizeBytes).toBe(50_000);
    expect(readFileSync(file).equals(newer)).toBe(true);
  });

  it("counts what is on the disk, not what it wrote", async () => {
    const { cursor, agentId, folder } = stage({ [path]: report });
    const onProgress = () => {
      const [name = ""] = readdirSync(folder).filter((candidate) => candidate.endsWith(".bytes"));
      writeFileSync(join(folder, name), "more than ten bytes of somebody else");
    };
    const error = await failure(saveArtifact(cursor, agentId, path, { to: folder, onProgress }));
    expect(error).toMatchObject({ kind: "error", message: expect.stringContaining("of 10 bytes") });
    expect(tree(folder)).toEqual([]);
  });

  it("gives up on a file that changes each time, and leaves nothing", async () => {
    const emulator = checkedEmulator();
    let version = 0;
    const fetch: typeof globalThis.fetch = (input, init) => {
      emulator.addArtifact(parts.agentId, path, `${++version}`.padStart(100, "x"));
      return emulator.fetch(input, init);
    };
    const parts = stage({ [path]: report }, { emulator, fetch });
    emulator.faults.cut("getArtifactBytes", { afterBytes: 5, times: Number.POSITIVE_INFINITY });
    const error = await failure(saveArtifact(parts.cursor, parts.agentId, path, { to: parts.folder }));
    expect(error).toMatchObject({ kind: "api", code: "invalid_response" });
    expect(tree(parts.folder)).toEqual([]);
  });

  it("that can't be completed leaves no target, and keeps its bytes for the next call", async () => {
    const bytes = patterned(200_000);
    const { cursor, agentId, folder, emulator, downloads } = stage({ [path]: bytes }, { maxRetries: 0 });
    writeFileSync(join(folder, "report.md"), "old");
    emulator.faults.cut("getArtifactBytes", { afterBytes: 70_000 });
    expect(await failure(saveArtifact(cursor, agentId, path, { to: folder }))).toMatchObject({
      kind: "connection",
    });
    expect(text(folder, "report.md")).toBe("old");
    // Nothing comes: what was there before must not be lost.
    emulator.faults.dropRequest("getArtifactBytes");
    expect(await failure(saveArtifact(cursor, agentId, path, { to: folder }))).toMatchObject({
      kind: "connection",
    });
    const seen: number[] = [];
    const onProgress = ({ loaded }: { loaded: number }) => seen.push(loaded);
    const saved = await saveArtifact(cursor, agentId, path, { to: folder, onProgress });
    expect(saved).toMatchObject({ sizeBytes: 200_000, resumedFrom: 70_000, contentType: "text/markdown" });
    expect(seen[0]).toBeGreaterThan(70_000);
    expect(readFileSync(saved.file).equals(bytes)).toBe(true);
    expect(downloads().at(-1)?.headers).toMatchObject({
      range: "bytes=70000-",
      "if-range": expect.any(String),
    });
    expect(tree(folder)).toEqual(["report.md"]);
  });

  it("is started again by the next call when the file was changed", async () => {
    const newer = patterned(30_000).reverse();
    const { cursor, agentId, folder, emulator, downloads } = stage(
      { [path]: patterned(200_000) },
      { maxRetries: 0 },
    );
    emulator.faults.cut("getArtifactBytes", { afterBytes: 70_000 });
    await failure(saveArtifact(cursor, agentId, path, { to: folder }));
    emulator.addArtifact(agentId, path, newer);
    const saved = await saveArtifact(cursor, agentId, path, { to: folder });
    expect(saved).toMatchObject({ sizeBytes: 30_000 });
    expect(saved.resumedFrom).toBeUndefined();
    expect(readFileSync(saved.file).equals(newer)).toBe(true);
    expect(downloads().map(({ status }) => status)).toEqual([200, 200]);
  });

  it("asks for the last byte when all were there, to know that they are still the right ones", async () => {
    const { cursor, agentId, folder, emulator, downloads } = stage({ [path]: report }, { maxRetries: 0 });
    emulator.faults.stall("getArtifactBytes", { afterBytes: 10 });
    const controller = new AbortController();
    const onProgress = () => controller.abort("enough");
    const options = { to: folder, signal: controller.signal, onProgress };
    expect(await failure(saveArtifact(cursor, agentId, path, options))).toBe("enough");
    const [record = ""] = readdirSync(folder).filter((name) => name.endsWith(".json"));
    expect(JSON.parse(text(folder, record))).toMatchObject({ path, agentId, sizeBytes: 10 });
    await saveArtifact(cursor, agentId, path, { to: folder });
    expect(text(folder, "report.md")).toBe(report);
    expect(downloads().at(-1)?.status).toBe(206);
  });

  it("is not continued with bytes of another artifact or of another agent", async () => {
    const other = "artifacts/other.md";
    const { cursor, agentId, folder, emulator, downloads } = stage(
      { [path]: patterned(9_000), [other]: patterned(9_000).reverse() },
      { maxRetries: 0 },
    );
    const to = join(folder, "one");
    emulator.faults.cut("getArtifactBytes", { afterBytes: 7_000 });
    await failure(saveArtifact(cursor, agentId, path, { to }));
    await saveArtifact(cursor, agentId, other, { to });
    expect(readFileSync(to).equals(patterned(9_000).reverse())).toBe(true);
    expect(downloads().at(-1)?.headers["range"]).toBeUndefined();
    expect(tree(folder)).toEqual(["one"]);
  });
});

describe("limits and rejected targets", () => {
  it("holds maxBytes before and inside the body, and leaves nothing", async () => {
    const { cursor, agentId, folder } = stage({ [path]: report });
    const error = await failure(saveArtifact(cursor, agentId, path, { to: folder, maxBytes: 9 }));
    expect(error).toMatchObject({ kind: "api", code: "artifact_too_large" });
    expect(tree(folder)).toEqual([]);
    await saveArtifact(cursor, agentId, path, { to: folder, maxBytes: 10 });
  });

  it("passes on what the API says, and leaves nothing", async () => {
    const { cursor, agentId, folder } = stage();
    const error = await failure(saveArtifact(cursor, agentId, "artifacts/none", { to: folder }));
    expect(error).toMatchObject({ code: "artifact_not_found", agentId });
    expect(tree(folder)).toEqual([]);
  });

  it("follows no link in the file's place", async () => {
    const { cursor, agentId, folder } = stage({ [path]: report });
    const victim = join(temporaryFolder(), "victim");
    writeFileSync(victim, "mine");
    symlinkSync(victim, join(folder, "report.md"));
    const error = await failure(saveArtifact(cursor, agentId, path, { to: join(folder, "report.md") }));
    expect(error).toMatchObject({ kind: "argument", argument: "to", reason: "symbolic-link" });
    expect(text(victim)).toBe("mine");
    expect(lstatSync(join(folder, "report.md")).isSymbolicLink()).toBe(true);
  });

  it("rejects a link that is made during the download, and leaves nothing", async () => {
    const { cursor, agentId, folder } = stage({ [path]: report });
    const victim = join(temporaryFolder(), "victim");
    writeFileSync(victim, "mine");
    const onProgress = () => symlinkSync(victim, join(folder, "report.md"));
    const error = await failure(saveArtifact(cursor, agentId, path, { to: folder, onProgress }));
    expect(error).toMatchObject({ reason: "symbolic-link" });
    expect(text(victim)).toBe("mine");
    expect(tree(folder)).toEqual(["report.md"]);
  });

  it.each([["artifacts/a/CON"], ["artifacts/x "], ["artifacts/a/"]])(
    "takes no unsafe name from %j, but saves it under the caller's",
    async (unsafe) => {
      const { cursor, agentId, folder } = stage({ [unsafe]: report });
      const error = await failure(saveArtifact(cursor, agentId, unsafe, { to: folder }));
      expect(error).toMatchObject({ kind: "argument", argument: "path" });
      await saveArtifact(cursor, agentId, unsafe, { to: join(folder, "mine") });
      expect(tree(folder)).toEqual(["mine"]);
    },
  );

  it("wraps errors of the disk", async () => {
    const { cursor, agentId, folder } = stage({ [path]: report });
    writeFileSync(join(folder, "file"), "");
    const error = await failure(saveArtifact(cursor, agentId, path, { to: join(folder, "file", "x") }));
    expect(error).toMatchObject({ kind: "error", agentId, cause: { code: "EEXIST" } });
  });

  it.each([[{}], [{ to: "" }], [{ to: "a\0b" }], [undefined]])("checks its options: %j", async (options) => {
    const { cursor, agentId, emulator } = stage({ [path]: report });
    const error = await failure(saveArtifact(cursor, agentId, path, options as never));
    expect(error).toMatchObject({ kind: "argument", argument: "to" });
    expect(emulator.requests).toEqual([]);
  });

  it("rejects with the caller's reason when aborted before", async () => {
    const { cursor, agentId, folder, emulator } = stage({ [path]: report });
    const signal = AbortSignal.abort("no");
    expect(await failure(saveArtifact(cursor, agentId, path, { to: folder, signal }))).toBe("no");
    expect(emulator.requests).toEqual([]);
  });
});

describe("what is left of earlier calls", () => {
  const left = /^\.cursor-part-/;

  /** A left-over of 5 of the 10 bytes, under the name that a process with this id would have given it. */
  async function leftOver(owner: (stem: string) => string) {
    const parts = stage({ [path]: report }, { maxRetries: 0 });
    parts.emulator.faults.cut("getArtifactBytes", { afterBytes: 5 });
    await failure(saveArtifact(parts.cursor, parts.agentId, path, { to: parts.folder }));
    const fs = await import("node:fs");
    for (const name of readdirSync(parts.folder))
      fs.renameSync(join(parts.folder, name), join(parts.folder, owner(name)));
    return { ...parts, fs };
  }
  const ownedBy = (pid: number) => (name: string) =>
    name.replace(/-\d+-(\d+)-([0-9a-f]{12}\.)/, `-${pid}-$1-$2`);

  it("of a live process is left alone", async () => {
    const { cursor, agentId, folder, downloads } = await leftOver(ownedBy(process.ppid));
    const saved = await saveArtifact(cursor, agentId, path, { to: folder });
    expect(saved.resumedFrom).toBeUndefined();
    expect(downloads().at(-1)?.status).toBe(200);
    expect(tree(folder).filter((name) => left.test(name))).toHaveLength(2);
  });

  it("of a live process is taken when nobody has touched it for a day", async () => {
    const { cursor, agentId, folder, fs } = await leftOver(ownedBy(process.ppid));
    const dayAgo = Date.now() / 1000 - 25 * 3600;
    for (const name of readdirSync(folder)) fs.utimesSync(join(folder, name), dayAgo, dayAgo);
    expect((await saveArtifact(cursor, agentId, path, { to: folder })).resumedFrom).toBe(5);
    expect(tree(folder)).toEqual(["report.md"]);
  });

  /** As if it had been written in another container, on another machine, or before a restart. */
  const elsewhere = (name: string) =>
    ownedBy(2 ** 30)(name).replace(/^(\.cursor-part-\w+)-\w+-/, "$1-01234567-");

  it("of a process that can't be seen from here is left alone, even if no process here has its id", async () => {
    for (const owner of [
      elsewhere,
      (name: string) => elsewhere(name).replace(/-\d+-(0-)/, `-${process.pid}-$1`),
    ]) {
      const { cursor, agentId, folder } = await leftOver(owner);
      const saved = await saveArtifact(cursor, agentId, path, { to: folder });
      expect(saved.resumedFrom).toBeUndefined();
      expect(tree(folder).filter((name) => left.test(name))).toHaveLength(2);
    }
  });

  it("of such a process is copied after a day, so that nobody writes on into what it may have open", async () => {
    const { cursor, agentId, folder, fs } = await leftOver(elsewhere);
    const dayAgo = Date.now() / 1000 - 25 * 3600;
    for (const name of readdirSync(folder)) fs.utimesSync(join(folder, name), dayAgo, dayAgo);
    const [name = ""] = readdirSync(folder).filter((candidate) => candidate.endsWith(".bytes"));
    const held = fs.openSync(join(folder, name), "r+");
    onTestFinished(() => fs.closeSync(held));
    expect((await saveArtifact(cursor, agentId, path, { to: folder })).resumedFrom).toBe(5);
    fs.writeSync(held, "another version", 0);
    expect(text(folder, "report.md")).toBe(report);
    expect(tree(folder)).toEqual(["report.md"]);
  });

  it.runIf(process.platform === "linux")(
    "of a process whose id another one has now is continued",
    async () => {
      const { cursor, agentId, folder } = await leftOver((name) =>
        ownedBy(process.ppid)(name).replace(/-\d+-(\d+-\d+-[0-9a-f]{12}\.)/, "-1-$1"),
      );
      expect((await saveArtifact(cursor, agentId, path, { to: folder })).resumedFrom).toBe(5);
    },
  );

  it("without a readable record is not continued", async () => {
    for (const record of ["", "{", "null", '{"syncedBytes":-1}', '{"syncedBytes":5}']) {
      const { cursor, agentId, folder, downloads } = await leftOver(ownedBy(2 ** 30));
      const [name = ""] = readdirSync(folder).filter((candidate) => candidate.endsWith(".json"));
      writeFileSync(join(folder, name), record);
      await saveArtifact(cursor, agentId, path, { to: folder });
      expect(text(folder, "report.md")).toBe(report);
      expect(downloads().at(-1)?.headers["range"]).toBeUndefined();
      expect(tree(folder)).toEqual(["report.md"]);
    }
  });

  it.each(["symlinkSync", "linkSync"] as const)("is never a way to write elsewhere (%s)", async (link) => {
    const { cursor, agentId, folder, fs } = await leftOver(ownedBy(2 ** 30));
    const victim = join(folder, "victim");
    writeFileSync(victim, "01234 and more");
    const [name = ""] = readdirSync(folder).filter((candidate) => candidate.endsWith(".bytes"));
    fs.unlinkSync(join(folder, name));
    fs[link](victim, join(folder, name));
    await saveArtifact(cursor, agentId, path, { to: folder });
    expect(text(victim)).toBe("01234 and more");
    expect(text(folder, "report.md")).toBe(report);
    expect(tree(folder)).toEqual(["report.md", "victim"]);
  });

  it("is not shared by two calls at the same time", async () => {
    const { cursor, agentId, folder } = stage({ [path]: patterned(300_000) });
    mkdirSync(join(folder, "x"));
    const call = () => saveArtifact(cursor, agentId, path, { to: join(folder, "x") });
    const both = await Promise.all([call(), call(), call()]);
    expect(both.map(({ sizeBytes }) => sizeBytes)).toEqual([300_000, 300_000, 300_000]);
    expect(readFileSync(join(folder, "x", "report.md")).equals(patterned(300_000))).toBe(true);
    expect(tree(folder)).toEqual(["x/", "x/report.md"]);
  });
});

describe("a large file", () => {
  it("is never more than a piece ahead of the disk", async () => {
    const size = 32 * 1024 * 1024;
    const bytes = patterned(size);
    const emulator = new CursorEmulator();
    let given = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await emulator.fetch(input, init);
      if (!response.headers.has("etag")) return response;
      const counted = new TransformStream<Uint8Array, Uint8Array>(
        {
          transform: (chunk, controller) => {
            given += chunk.byteLength;
            controller.enqueue(chunk);
          },
        },
        { highWaterMark: 1 },
        { highWaterMark: 0 },
      );
      return new Response(response.body?.pipeThrough(counted), { headers: response.headers });
    };
    const { cursor, agentId, folder } = stage({ "artifacts/film.mp4": bytes }, { emulator, fetch });
    let ahead = 0;
    const onProgress = () => {
      const [name = ""] = readdirSync(folder).filter((candidate) => candidate.endsWith(".bytes"));
      ahead = Math.max(ahead, given - lstatSync(join(folder, name)).size);
    };
    const { file } = await saveArtifact(cursor, agentId, "artifacts/film.mp4", { to: folder, onProgress });
    expect(given).toBe(size);
    expect(ahead).toBeLessThanOrEqual(3 * 65_536);
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });
});
