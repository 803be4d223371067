export const isOneFile: boolean;
export const launcher: string;
export const tool: [program: string, ...before: string[]];
export const toolLine: string;
