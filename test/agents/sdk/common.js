import { execSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** What every SDK script shares: the request, two tools, and how a script ends. */

export const { PROMPT: prompt } = process.env;
export const thinks = process.env.THINKING === '1';
/** A PNG of the user, beside the prompt: base64. */
export const image = process.env.IMAGE && readFileSync(process.env.IMAGE, 'base64');
export const MAX_STEPS = 30;

const tool = (name, description, parameters, run) => ({
  name,
  description,
  schema: {
    type: 'object',
    properties: Object.fromEntries(parameters.map((parameter) => [parameter, { type: 'string' }])),
    required: parameters,
    additionalProperties: false,
  },
  run,
});

export const TOOLS = [
  tool('shell', 'Runs a command in a shell and returns its output.', ['command'], ({ command }) =>
    execSync(command, { encoding: 'utf8' }),
  ),
  tool('write_file', 'Writes a file.', ['path', 'content'], ({ path, content }) => {
    writeFileSync(path, content);
    return 'written';
  }),
];

/** The result of a tool, or the message of its failure. */
export function use(name, args) {
  try {
    return { output: TOOLS.find((tool) => tool.name === name).run(args) };
  } catch (error) {
    return { error: error.message };
  }
}

export async function main(work) {
  try {
    console.log(await work());
    process.exit(0);
  } catch (error) {
    console.error(`${error.name}: ${error.message}`);
    process.exit(1);
  }
}
