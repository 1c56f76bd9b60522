import { execSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** What every SDK script shares: the request, two tools, and how a script ends. */

export const { PROMPT: prompt, THINKING: thinking } = process.env;
export const thinks = thinking === '1';
export const MAX_STEPS = 30;

export const SHELL = {
  name: 'shell',
  description: 'Runs a command in a shell and returns its output.',
  schema: {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
    additionalProperties: false,
  },
};
export const WRITE = {
  name: 'write_file',
  description: 'Writes a file.',
  schema: {
    type: 'object',
    properties: { path: { type: 'string' }, content: { type: 'string' } },
    required: ['path', 'content'],
    additionalProperties: false,
  },
};

export const shell = ({ command }) => execSync(command, { encoding: 'utf8' });
export function writeFile({ path, content }) {
  writeFileSync(path, content);
  return 'written';
}
export const TOOLS = [
  { ...SHELL, run: shell },
  { ...WRITE, run: writeFile },
];

export async function main(work) {
  try {
    console.log(await work());
    process.exit(0);
  } catch (error) {
    console.error(`${error.name}: ${error.message}`);
    process.exit(1);
  }
}
