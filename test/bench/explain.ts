import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const CLI = join(root, 'src/cli/main.ts');

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Wall time of one command from its start to its end, in milliseconds. */
function run(args: readonly string[]): number {
  const from = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - from;
}

interface ColdCommand {
  readonly name: string;
  readonly args: readonly string[];
}

/**
 * Commands from a cold start, each in a process of its own, in turns: what a person waits for who asks once. `version` reads no
 * settings, so it is what Node and the command line cost by themselves.
 */
export function coldStarts(configs: string, repetitions: number): string {
  const request = join(configs, 'request.json');
  const chat = (model: string): object => ({
    model,
    max_tokens: 256,
    messages: [{ role: 'user', content: 'Summarise the history of the semicolon. '.repeat(20) }],
  });
  const files = ['@same/bench', '@claude/claude-3-5-haiku-20241022', '@gemini/gemini-2.5-flash'].map((model, index) => {
    const file = `${request}.${index}`;
    writeFileSync(file, JSON.stringify(chat(model)));
    return [model, file] as const;
  });
  const commands: ColdCommand[] = [
    { name: 'version', args: ['version'] },
    { name: 'validate', args: ['validate', '--configs', configs] },
    ...files.map(([model, file]) => ({
      name: `explain, 1 KB chat to ${model}`,
      args: [
        'explain',
        '--configs',
        configs,
        '--request',
        file,
        '--header',
        'authorization: Bearer upstream-token',
        '--key',
        'bench',
      ],
    })),
  ];
  const times = commands.map((): number[] => []);
  for (let repetition = 0; repetition <= repetitions; repetition += 1) {
    for (const [index, { args }] of commands.entries()) {
      const ms = run(args);
      // The first of each warms the disk's cache.
      if (repetition > 0) times[index]!.push(ms);
    }
  }
  const alone = median(times[0]!);
  const rows = commands.map(({ name }, index) => {
    const ms = median(times[index]!);
    return `| ${name} | ${ms.toFixed(0)} | ${(ms / alone).toFixed(2)} |`;
  });
  return [
    '### Commands from a cold start',
    '',
    '| command | ms | × version |',
    '| --- | ---: | ---: |',
    ...rows,
    '',
  ].join('\n');
}

/** Explains requests in the running gateway, so that whatever it leaves behind there is there. */
export async function explainOften(adminUrl: string, model: string, times: number): Promise<number> {
  const body = JSON.stringify({
    body: {
      model,
      max_tokens: 256,
      messages: [{ role: 'user', content: 'Summarise the history of the semicolon. '.repeat(20) }],
    },
    key: 'bench',
  });
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
