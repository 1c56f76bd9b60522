/**
 * Writes src/core/commands/samples.generated.ts: the sample settings that `gatehouse init` writes. They are compiled in, because the
 * folder configs/ of an installation may contain an operator's own settings, with keys and credentials.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const CONFIGS = join(import.meta.dirname, '../configs');
export const SAMPLES_OUTPUT = join(import.meta.dirname, '../src/core/commands/samples.generated.ts');

const BANNER = `// Generated from configs/ by \`npm run generate\`. Do not edit: change the samples and run it again.

/** By name in the folder. */
export const samples: Readonly<Record<string, string>> = {
`;

export function generateSamples(): string {
  const names = globSync('{server,catalog,keys,gateway/*}.yaml', { cwd: CONFIGS }).sort();
  const entries = names.map((name) => `  '${name}': \`${escape(readFileSync(join(CONFIGS, name), 'utf8'))}\`,\n`);
  return `${BANNER}${entries.join('')}};\n`;
}

const escape = (text: string): string => text.replaceAll(/[\\`]|\$(?=\{)/g, (character) => `\\${character}`);
