import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

interface ColdCommand {
  readonly name: string;
  readonly args: readonly string[];
}

const question = (model: string): string =>
  JSON.stringify({
    model,
    max_tokens: 256,
    messages: [{ role: 'user', content: 'Summarise the history of the semicolon. '.repeat(20) }],
  });

function commandsOf(configs: string): readonly ColdCommand[] {
  const models = ['@same/bench', '@claude/claude-3-5-haiku-20241022', '@gemini/gemini-2.5-flash'];
  const key = ['--header', 'authorization: Bearer upstream-token', '--key', 'bench'];
  return [
    { name: 'version', args: ['version'] },
    { name: 'validate', args: ['validate', '--configs', configs] },
    ...models.map((model, index) => {
      const request = join(configs, `request.json.${index}`);
      writeFileSync(request, question(model));
      const args = ['explain', '--configs', configs, '--request', request, ...key];
      return { name: `explain, 1 KB chat to ${model}`, args };
    }),
  ];
}

/** The package as it is published, in `folder`. */
function build(folder: string): string {
  const tsc = join(root, 'node_modules/.bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', join(folder, 'dist')], { cwd: root });
  for (const part of ['package.json', 'schemas']) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'dist/src/cli/main.js');
}

/** Wall time of one command from its start to its end, in milliseconds. @param cache folder of the code that Node has compiled */
function run(main: string, args: readonly string[], cache: string): number {
  const env = { ...process.env, NODE_COMPILE_CACHE: cache };
  const from = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: root, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - from;
}

/**
 * Commands from a cold start, each in a process of its own, in turns: what a person waits for who asks once. `version` reads no
 * settings, so it is what Node and the command line cost by themselves. First: nothing of the code was compiled before; again: it was,
 * by a start before (src/process/compiled-code.ts). The files themselves are in the system's cache each time.
 */
export function coldStarts(configs: string, repetitions: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cold-'));
  try {
    const commands = commandsOf(configs);
    const mains = [join(root, 'src/cli/main.ts'), build(folder)];
    const times = commands.map(() => mains.map(() => ({ first: [] as number[], again: [] as number[] })));
    for (let repetition = 0; repetition <= repetitions; repetition += 1) {
      for (const [index, { args }] of commands.entries()) {
        for (const [which, main] of mains.entries()) {
          const cache = join(folder, `compiled-${repetition}-${index}-${which}`);
          const [first, again] = [run(main, args, cache), run(main, args, cache)];
          rmSync(cache, { recursive: true, force: true });
          // The first of each warms the system's cache.
          if (repetition === 0) continue;
          times[index]![which]!.first.push(first);
          times[index]![which]!.again.push(again);
        }
      }
    }
    const rows = commands.map(({ name }, index) => {
      const medians = times[index]!.flatMap(({ first, again }) => [median(first), median(again)]);
      return `| ${name} | ${medians.map((ms) => ms.toFixed(0)).join(' | ')} |`;
    });
    return [
      `### Commands from a cold start: ms of wall time, median of ${repetitions} starts`,
      '',
      '| command | sources, first | sources, again | package, first | package, again |',
      '| --- | ---: | ---: | ---: | ---: |',
      ...rows,
      '',
    ].join('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Explains requests in the running gateway, so that whatever it leaves behind there is there. */
export async function explainOften(adminUrl: string, model: string, times: number): Promise<number> {
  const body = `{"key":"bench","body":${question(model)}}`;
  const durations: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const from = performance.now();
    const response = await fetch(`${adminUrl}/admin/v1/explain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (response.status !== 200) throw new Error(`explain answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
    durations.push(performance.now() - from);
  }
  return median(durations);
}
