export const prompt: string;
export const text: string;
export function smoke(baseUrl: string): Promise<{ agents: number; reconnects: number }>;
