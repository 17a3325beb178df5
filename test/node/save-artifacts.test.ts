import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { type SaveProgress, saveArtifacts } from "cursor-cloud-agents/node";
import { describe, expect, it } from "vitest";
import { Folder } from "../../src/node/folder.ts";
import { saveInto } from "../../src/node/save-artifact.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { failure } from "../support/waiting.ts";
import { patterned, servedStage, stage, temporaryFolder, text, tree } from "./helpers.ts";

const manifest = ".cursor-artifacts.json";

describe("saveArtifacts", () => {
  it("saves all files under the folder, without the leading artifacts/", async () => {
    const { cursor, agentId, folder } = stage({ "artifacts/a.md": "A", "artifacts/b/c/d.md": "DD" });
    const to = join(folder, "made", "here");
    const report = await saveArtifacts(cursor, agentId, to);
    expect(report).toEqual({
      saved: [
        { path: "artifacts/a.md", file: join(to, "a.md"), sizeBytes: 1, contentType: "text/markdown" },
        {
          path: "artifacts/b/c/d.md",
          file: join(to, "b", "c", "d.md"),
          sizeBytes: 2,
          contentType: "text/markdown",
        },
      ],
      skipped: [],
      rejected: [],
      failed: [],
      manifest: { file: join(to, manifest) },
    });
    expect(text(to, "b/c/d.md")).toBe("DD");
    expect(tree(to)).toEqual([manifest, "a.md", "b/", "b/c/", "b/c/d.md"]);
  });

  it.each([
    ["there is no artifact", {}, undefined, []],
    ["none passes the filter", { "artifacts/a": "A" }, () => false, []],
    ["none has a safe name", { "artifacts/../a": "A" }, undefined, ["dot-segment"]],
  ])("makes no folder and no manifest where %s", async (_, files, filter, reasons) => {
    const { cursor, agentId, folder } = stage(files);
    const states: string[] = [];
    const onProgress = ({ state }: SaveProgress) => states.push(state);
    const report = await saveArtifacts(cursor, agentId, join(folder, "out", "a"), { filter, onProgress });
    expect(report).toEqual({ saved: [], skipped: [], rejected: report.rejected, failed: [] });
    expect(report.rejected.map(({ reason }) => reason)).toEqual(reasons);
    expect(states).toEqual(reasons.map(() => "rejected"));
    expect(tree(folder)).toEqual([]);
  });

  it.each([
    [99, undefined],
    [100, true],
    [137, true],
  ])("says whether %i files may be more than the API lists", async (count, expected) => {
    const files = Array.from({ length: count }, (_, index) => [`artifacts/${index}`, "x"]);
    const { cursor, agentId, folder } = stage(Object.fromEntries(files));
    const report = await saveArtifacts(cursor, agentId, folder, {
      filter: ({ path }) => path.endsWith("/1"),
    });
    expect(report.saved).toHaveLength(1);
    expect(report.mayHaveMore).toBe(expected);
  });

  it("saves over HTTP", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`artifacts/${index}.bin`, patterned(40_000 + index)]),
    );
    const { cursor, agentId, folder, emulator } = await servedStage(files, checkedEmulator());
    emulator.faults.cut("getArtifactBytes", { afterBytes: 10_000, times: 5 });
    const report = await saveArtifacts(cursor, agentId, folder);
    expect(report.saved).toHaveLength(20);
    for (const [path, bytes] of Object.entries(files)) {
      expect(readFileSync(join(folder, path.slice(10))).equals(bytes)).toBe(true);
    }
  });

  it.each([
    [undefined, 4],
    [1, 1],
    [20, 9],
  ])("downloads at most so many at once: %j", async (concurrency, expected) => {
    const emulator = checkedEmulator();
    let open = 0;
    let most = 0;
    let go: (value?: unknown) => void = () => {};
    const full = new Promise((resolve) => {
      go = resolve;
    });
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (!String(input).includes("X-Amz")) return emulator.fetch(input, init);
      most = Math.max(most, ++open);
      if (open === expected) go();
      await full;
      const bytes = await (await emulator.fetch(input, init)).arrayBuffer();
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      open--;
      return new Response(bytes);
    };
    const files = Object.fromEntries("abcdefghi".split("").map((name) => [`artifacts/${name}`, name]));
    const { cursor, agentId, folder } = stage(files, { emulator, fetch });
    const options = concurrency === undefined ? {} : { concurrency };
    expect((await saveArtifacts(cursor, agentId, folder, options)).saved).toHaveLength(9);
    expect(most).toBe(expected);
  });

  it("saves what the filter wants, and reports its progress", async () => {
    const { cursor, agentId, folder } = stage({
      "artifacts/a": "A",
      "artifacts/b": "BB",
      "artifacts/..": "C",
    });
    const seen: SaveProgress[] = [];
    const report = await saveArtifacts(cursor, agentId, folder, {
      filter: ({ path }) => path !== "artifacts/a",
      onProgress: (progress) => seen.push(progress),
      concurrency: 1,
    });
    expect([report.saved.length, report.rejected.length]).toEqual([1, 1]);
    expect(seen).toEqual([
      { path: "artifacts/b", state: "saving", loaded: 2, total: 2, files: { done: 0, total: 2 } },
      { path: "artifacts/b", state: "saved", loaded: 2, total: 2, files: { done: 1, total: 2 } },
      { path: "artifacts/..", state: "rejected", loaded: 0, total: 1, files: { done: 2, total: 2 } },
    ]);
  });

  it("lets no bad file stop the good ones, and says why each failed", async () => {
    const files = {
      "artifacts/a": "A",
      "artifacts/gone": "G",
      "artifacts/broken": "broken",
      "artifacts/large": "x".repeat(99),
    };
    const { cursor, agentId, folder, emulator } = stage(files, { maxRetries: 0 });
    const named = (name: string) => (request: { url: string; operationId?: string }) =>
      request.operationId === "getArtifactBytes" && request.url.includes(name);
    emulator.faults
      .status(named("gone"), 404, { body: "<Error><Code>NoSuchKey</Code></Error>" })
      .cut(named("broken"), { afterBytes: 3 });
    mkdirSync(join(folder, "occupied"));
    emulator.addArtifact(agentId, "artifacts/occupied", "O");
    emulator.addArtifact(agentId, "artifacts/z", "Z");
    const report = await saveArtifacts(cursor, agentId, folder, { maxBytes: 50 });
    expect(report.saved.map(({ path }) => path)).toEqual(["artifacts/a", "artifacts/z"]);
    expect(report.failed.map(({ path, reason }) => [path, reason])).toEqual([
      ["artifacts/gone", "api"],
      ["artifacts/broken", "connection"],
      ["artifacts/large", "too-large"],
    ]);
    expect(report.failed[0]?.error).toMatchObject({ status: 404, code: "NoSuchKey", agentId });
    expect(report.rejected.map(({ path, reason }) => [path, reason])).toEqual([
      ["artifacts/occupied", "folder"],
    ]);
    const again = await saveArtifacts(cursor, agentId, folder, { maxBytes: 50 });
    expect(again.saved).toMatchObject([
      { path: "artifacts/gone" },
      { path: "artifacts/broken", resumedFrom: 3 },
    ]);
  });

  it("throws when there is nothing to report on: no list, no folder, wrong options", async () => {
    const { cursor, agentId, folder, emulator } = stage();
    expect(
      await failure(saveArtifacts(cursor, "bc-00000000-0000-4000-8000-0000000000ff", join(folder, "x"))),
    ).toMatchObject({ kind: "api" });
    expect(existsSync(join(folder, "x"))).toBe(false);
    writeFileSync(join(folder, "file"), "");
    expect(await failure(saveArtifacts(cursor, agentId, join(folder, "file")))).toMatchObject({
      kind: "error",
    });
    const { length } = emulator.requests;
    expect(await failure(saveArtifacts(cursor, agentId, ""))).toMatchObject({ argument: "folder" });
    for (const concurrency of [0, Number.NaN, -1]) {
      const error = await failure(saveArtifacts(cursor, agentId, folder, { concurrency }));
      expect(error).toMatchObject({ argument: "concurrency" });
    }
    expect(emulator.requests).toHaveLength(length);
  });
});

describe("the manifest", () => {
  it("lets unchanged files be skipped, and only those", async () => {
    const clock = new ManualClock();
    const files = {
      "artifacts/same": "S",
      "artifacts/changed": "C",
      "artifacts/deleted": "D",
      "artifacts/cut": "1234",
    };
    const { cursor, agentId, folder, emulator, downloads } = stage(files, {
      emulator: checkedEmulator({ clock }),
    });
    await saveArtifacts(cursor, agentId, folder);
    await clock.advance(1000);
    emulator.addArtifact(agentId, "artifacts/changed", "X");
    unlinkSync(join(folder, "deleted"));
    writeFileSync(join(folder, "cut"), "12");
    const before = downloads().length;
    const report = await saveArtifacts(cursor, agentId, folder);
    expect(report.skipped).toEqual([{ path: "artifacts/same", file: join(folder, "same"), sizeBytes: 1 }]);
    expect(report.saved.map(({ path }) => path).sort()).toEqual([
      "artifacts/changed",
      "artifacts/cut",
      "artifacts/deleted",
    ]);
    expect(downloads()).toHaveLength(before + 3);
    expect([text(folder, "changed"), text(folder, "cut")]).toEqual(["X", "1234"]);
  });

  it("knows whose files they are", async () => {
    // A clock that stands still: both files have the same time and size.
    const one = stage({ "artifacts/a": "A" }, { emulator: checkedEmulator({ clock: new ManualClock() }) });
    await saveArtifacts(one.cursor, one.agentId, one.folder);
    const other = one.emulator.addAgent({ prompt: { text: "y" } }).agent.id;
    one.emulator.addArtifact(other, "artifacts/a", "B");
    await saveArtifacts(one.cursor, other, one.folder);
    expect(text(one.folder, "a")).toBe("B");
    expect((await saveArtifacts(one.cursor, one.agentId, one.folder)).skipped).toEqual([]);
    expect(text(one.folder, "a")).toBe("A");
  });

  it("can be elsewhere, or nowhere", async () => {
    const { cursor, agentId, folder } = stage({ "artifacts/a": "A" });
    const place = join(temporaryFolder(), "state", "m.json");
    const inside = join(folder, "files");
    expect((await saveArtifacts(cursor, agentId, inside, { manifest: place })).manifest).toEqual({
      file: place,
    });
    expect((await saveArtifacts(cursor, agentId, inside, { manifest: place })).skipped).toHaveLength(1);
    const none = await saveArtifacts(cursor, agentId, inside, { manifest: false });
    expect([none.saved.length, none.manifest]).toEqual([1, undefined]);
    expect(tree(inside)).toEqual(["a"]);
  });

  it.each(["", "{", "null", "[]", '{"version":1,"files":{"artifacts/a":null}}', '{"version":9,"files":{}}'])(
    "that can't be read is begun anew: %j",
    async (broken) => {
      const { cursor, agentId, folder } = stage({ "artifacts/a": "A" });
      writeFileSync(join(folder, manifest), broken);
      expect((await saveArtifacts(cursor, agentId, folder)).saved).toHaveLength(1);
      expect(JSON.parse(text(folder, manifest)).files["artifacts/a"]).toMatchObject({
        agentId,
        savedBytes: 1,
      });
    },
  );

  it("takes a name like __proto__ for a name", async () => {
    const { cursor, agentId, folder } = stage({ "artifacts/__proto__": "P" });
    await saveArtifacts(cursor, agentId, folder);
    expect((await saveArtifacts(cursor, agentId, folder)).skipped).toHaveLength(1);
  });

  it("is not written through a link, and no artifact writes over it", async () => {
    const { cursor, agentId, folder } = stage({
      "artifacts/.cursor-artifacts.json": "{}",
      "artifacts/.CURSOR-artifacts.json": "{}",
      "artifacts/State.json": "{}",
    });
    const report = await saveArtifacts(cursor, agentId, folder, { manifest: join(folder, "state.json") });
    expect(report.rejected.map(({ reason }) => reason)).toEqual(["own-name", "own-name", "own-name"]);
    const victim = join(temporaryFolder(), "victim");
    writeFileSync(victim, "mine");
    symlinkSync(victim, join(folder, manifest));
    expect(await failure(saveArtifacts(cursor, agentId, folder))).toMatchObject({ argument: "manifest" });
    expect(text(victim)).toBe("mine");
  });
});

describe("containment", () => {
  it("rejects what leaves the folder or means something else elsewhere, and saves the rest", async () => {
    const bad = {
      "artifacts/../../etc/x": "dot-segment",
      "artifacts/./x": "dot-segment",
      "/etc/x": "absolute-path",
      "artifacts//etc/x": "absolute-path",
      "artifacts/a//b": "empty-segment",
      "artifacts/C:x": "drive-letter",
      "artifacts/..\\..\\x": "backslash",
      "\\\\server\\share\\x": "backslash",
      "artifacts/a\u0000b": "invalid-character",
      "artifacts/a\nb": "invalid-character",
      "artifacts/CON": "reserved-name",
      "artifacts/com1.txt": "reserved-name",
      "artifacts/nul .tar.gz": "reserved-name",
      "artifacts/dir/": "folder",
      "artifacts/a.": "trailing-dot-or-space",
      "artifacts/a /b": "trailing-dot-or-space",
      [`artifacts/${"é".repeat(128)}`]: "name-too-long",
      "artifacts/.cursor-part-x": "own-name",
      "artifacts/team/.cursor-artifacts.json": "own-name",
      "artifacts/.Cursor-Artifacts.JSON/x": "own-name",
      "artifacts/README.md": "name-conflict",
      "artifacts/caf\u0065\u0301": "name-conflict",
      "artifacts/tree": "name-conflict",
      "artifacts/leaf/x": "name-conflict",
    };
    const good = ["readme.md", "café", "tree/x", "leaf", "é".repeat(127), "..a", "a b", "constant", "12:30"];
    const files = [...good.map((name) => `artifacts/${name}`), ...Object.keys(bad)];
    const { cursor, agentId, folder } = stage(Object.fromEntries(files.map((path) => [path, path])));
    const inside = join(folder, "inside");
    const report = await saveArtifacts(cursor, agentId, inside);
    expect(Object.fromEntries(report.rejected.map(({ path, reason }) => [path, reason]))).toEqual(bad);
    expect(report.failed).toEqual([]);
    expect(tree(folder).filter((name) => !name.endsWith("/"))).toEqual(
      [manifest, ...good].map((name) => `inside/${name}`).sort(),
    );
    for (const name of good) expect(text(inside, name)).toBe(`artifacts/${name}`);
  });

  it("follows no link: not for the file, not for a folder on the way, not a dangling one", async () => {
    const { cursor, agentId, folder } = stage({
      "artifacts/x": "X",
      "artifacts/dir/y": "Y",
      "artifacts/deep/dir/y": "Y",
      "artifacts/nowhere/z": "Z",
      "artifacts/file/z": "Z",
      "artifacts/good": "G",
    });
    const outside = temporaryFolder();
    writeFileSync(join(outside, "victim"), "mine");
    symlinkSync(join(outside, "victim"), join(folder, "x"));
    symlinkSync(outside, join(folder, "dir"));
    mkdirSync(join(folder, "deep"));
    symlinkSync(outside, join(folder, "deep", "dir"));
    symlinkSync(join(outside, "none"), join(folder, "nowhere"));
    writeFileSync(join(folder, "file"), "");
    const { saved, rejected, failed } = await saveArtifacts(cursor, agentId, folder);
    expect(rejected.map(({ path, reason }) => [path, reason])).toEqual([
      ["artifacts/x", "symbolic-link"],
      ["artifacts/dir/y", "symbolic-link"],
      ["artifacts/deep/dir/y", "symbolic-link"],
      ["artifacts/nowhere/z", "symbolic-link"],
      ["artifacts/file/z", "not-a-folder"],
    ]);
    expect([saved.map(({ path }) => path), failed]).toEqual([["artifacts/good"], []]);
    expect([tree(outside), text(outside, "victim")]).toEqual([["victim"], "mine"]);
  });

  it("follows no link that takes a folder's place while bytes come", async () => {
    const { cursor, agentId, folder } = stage({ "artifacts/dir/y": patterned(200_000) });
    const outside = temporaryFolder();
    let swapped = false;
    const onProgress = () => {
      if (swapped) return;
      swapped = true;
      renameSync(join(folder, "dir"), join(folder, "moved"));
      symlinkSync(outside, join(folder, "dir"));
    };
    const { rejected } = await saveArtifacts(cursor, agentId, folder, { onProgress, manifest: false });
    expect(rejected).toMatchObject([{ reason: "symbolic-link" }]);
    expect(tree(outside)).toEqual([]);
    expect(tree(folder)).toEqual(["dir", "moved/"]);
  });

  it("notices a swapped folder also where none can be held open", async () => {
    const { cursor, agentId, folder } = stage({ "artifacts/y": patterned(200_000) });
    const outside = temporaryFolder();
    mkdirSync(join(folder, "dir"));
    const root = await Folder.open(folder, false);
    const held = await root.child("dir");
    expect([root.isAnchored, held.isAnchored]).toEqual([false, false]);
    let swapped = false;
    const onProgress = () => {
      if (swapped) return;
      swapped = true;
      renameSync(join(folder, "dir"), join(folder, "moved"));
      symlinkSync(outside, join(folder, "dir"));
    };
    const source = { agentId, path: "artifacts/y" };
    const error = await failure(saveInto(cursor, source, held, "y", { onProgress }, "path"));
    expect(error).toMatchObject({ reason: "symbolic-link" });
    expect(tree(outside)).toEqual([]);
    await held.close();
    await root.close();
  });

  it.runIf(process.platform === "linux")("holds folders open where the system allows it", async () => {
    const root = await Folder.open(temporaryFolder());
    const child = await root.child("x");
    expect([root.isAnchored, child.isAnchored]).toEqual([true, true]);
    await child.close();
    await root.close();
  });
});

describe("an abort", () => {
  it("stops all, rejects with its reason, and lets the next call go on", async () => {
    const files = Object.fromEntries(
      "abcdef".split("").map((name) => [`artifacts/${name}`, patterned(200_000)]),
    );
    const { cursor, agentId, folder, emulator, downloads } = stage(files);
    emulator.faults.stall("getArtifactBytes", { afterBytes: 80_000, times: 2 });
    const controller = new AbortController();
    const reason = new Error("the caller's own");
    let stalled = 0;
    const call = saveArtifacts(cursor, agentId, folder, {
      signal: controller.signal,
      concurrency: 2,
      onProgress: ({ loaded }) => {
        if (loaded === 80_000 && ++stalled === 2) setImmediate(() => controller.abort(reason));
      },
    });
    expect(await failure(call)).toBe(reason);
    expect(downloads()).toHaveLength(2);
    expect(tree(folder).filter((name) => !name.startsWith(".cursor-part-"))).toEqual([]);
    const report = await saveArtifacts(cursor, agentId, folder);
    expect(report.saved.map(({ resumedFrom }) => resumedFrom)).toEqual([
      80_000,
      80_000,
      ...Array(4).fill(undefined),
    ]);
    for (const [path, bytes] of Object.entries(files)) {
      expect(readFileSync(join(folder, path.slice(10))).equals(bytes)).toBe(true);
    }
    expect(readdirSync(folder).filter((name) => name.startsWith(".cursor-part-"))).toEqual([]);
  });

  it("remembers what was saved before it", async () => {
    const { cursor, agentId, folder } = stage({ "artifacts/a": "A", "artifacts/b": "B" });
    const controller = new AbortController();
    const call = saveArtifacts(cursor, agentId, folder, {
      signal: controller.signal,
      concurrency: 1,
      onProgress: ({ state }) => state === "saved" && controller.abort("enough"),
    });
    expect(await failure(call)).toBe("enough");
    const report = await saveArtifacts(cursor, agentId, folder);
    expect([report.skipped.length, report.saved.length]).toEqual([1, 1]);
  });

  it("before the start sends nothing", async () => {
    const { cursor, agentId, folder, emulator } = stage({ "artifacts/a": "A" });
    const call = saveArtifacts(cursor, agentId, join(folder, "x"), { signal: AbortSignal.abort("no") });
    expect(await failure(call)).toBe("no");
    expect([emulator.requests, tree(folder)]).toEqual([[], []]);
  });

  it("comes of a callback that throws, too", async () => {
    const { cursor, agentId, folder } = stage({ "artifacts/a": "A", "artifacts/b": "B" });
    const reason = new Error("in the callback");
    const onProgress = () => {
      throw reason;
    };
    expect(await failure(saveArtifacts(cursor, agentId, folder, { onProgress }))).toBe(reason);
  });
});
