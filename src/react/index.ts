"use client";

export { type UseRunOptions, type UseRunResult, useRun } from "./use-run.ts";
