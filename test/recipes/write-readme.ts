/**
 * The output of `gatehouse explain` in configs/recipes/README.md. `node test/recipes/write-readme.ts` regenerates it;
 * readme.test.ts compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { commands } from '../../src/cli/commands.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { EXAMPLES, type Example } from './examples.ts';
import { RECIPES, recipeIds } from './recipes.ts';

export const README = packageFile(`${RECIPES}/README.md`);

const begin = (id: string): string => `<!-- ${id}: by \`node test/recipes/write-readme.ts\` -->`;
const END = '<!-- end -->';

/** The README with all generated parts regenerated. */
export async function regenerate(readme: string): Promise<string> {
  let text = readme;
  for (const id of recipeIds) {
    const [before, rest] = text.split(begin(id));
    if (before === undefined || rest === undefined || !rest.includes(END))
      throw new Error(`${README} has no part for ${id}:\n${begin(id)}\n${END}`);
    text = `${before}${begin(id)}\n\n${await explained(id)}\n${rest.slice(rest.indexOf(END))}`;
  }
  return text;
}

async function explained(id: string): Promise<string> {
  const example = EXAMPLES[id];
  if (!example) throw new Error(`there is no example of ${id}`);
  const args = argumentsOf(id, example);
  const body = JSON.stringify(example.body);
  const command = `echo ${quoted(body)} | npm run -s gatehouse -- explain ${args.map(quoted).join(' ')}`;
  const details = `<details><summary>Output</summary>\n\n\`\`\`text\n${shortened(await explain(args, body))}\`\`\`\n\n</details>\n`;
  return `\`\`\`sh\n${command}\n\`\`\`\n\n${details}`;
}

/** A fixed id: a random one would change the text each time. */
function argumentsOf(id: string, { options = [], metadata, key }: Example): string[] {
  const headers = [
    ...(key === undefined ? [`x-gateway-config: ${id}`] : []),
    ...(metadata ? [`x-gateway-metadata: ${JSON.stringify(metadata)}`] : []),
    'x-request-id: try-1',
  ];
  return [
    '--configs',
    RECIPES,
    '--request',
    '-',
    ...(key === undefined ? [] : ['--key', key]),
    ...headers.flatMap((header) => ['--header', header]),
    ...options,
  ];
}

const quoted = (word: string): string =>
  /^[\w@:/.-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Parts of an explanation that say nothing of the recipe: what each request has. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'request',
  'deadline',
  'entry',
  'health',
  'plugins',
  'sends',
  'timeouts',
  'metrics',
  'as target',
]);

/** The explanation with a … in the place of these parts. */
export function shortened(explanation: string): string {
  const lines: string[] = [];
  let isShown = true;
  for (const line of explanation.split('\n')) {
    const [, part] = /^ {0,2}([a-z]+(?: [a-z]+)*)(?: |$)/.exec(line) ?? [];
    if (part !== undefined) isShown = !LEFT_OUT.has(part);
    if (line === '' || isShown) lines.push(line);
    else if (lines.at(-1) !== '…') lines.push('…');
  }
  return lines.join('\n').replaceAll(/\n\n…\n(?=\n)/g, '\n');
}

/** The output of the command itself, with an empty environment. */
async function explain(args: string[], body: string): Promise<string> {
  let said = '';
  let complaint = '';
  const code = await commands.get('explain')!.run(args, {
    env: {},
    terminal: undefined,
    // As `echo` ends it.
    input: () => Promise.resolve(Buffer.from(`${body}\n`)),
    out: (text) => void (said += text),
    err: (text) => void (complaint += text),
  });
  if (code !== 0) throw new Error(`explain ${args.join(' ')}: ${complaint}`);
  return said;
}

if (import.meta.main) {
  process.chdir(packageFile(''));
  writeFileSync(README, await regenerate(readFileSync(README, 'utf8')));
}
