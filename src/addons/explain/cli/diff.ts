import { createReadStream } from 'node:fs';
import type { Output } from '../../../core/commands/terminal/output.ts';
import { printable } from '../../../core/kernel/layout.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { formatDiagnostics, SettingsRefused } from '../../../core/settings/source/diagnostic.ts';
import { diskFiles } from '../../../core/settings/source/files.ts';
import type { Environment } from '../../../core/settings/values/references.ts';
import { effectOf, type EffectChange } from '../effect/effect.ts';
import { generatedQuestions } from '../effect/generated-questions.ts';
import { BadLine, readRequests } from '../effect/read-requests.ts';
import { effectMarkdown, effectText } from '../effect/render.ts';
import { openPair, readingOf, type SettingsPair } from '../effect/settings-pair.ts';

interface DiffOptions extends Output {
  readonly before: string;
  readonly after: string;
  /** A file, or `-` for standard input. Undefined: questions are made of the settings. */
  readonly requests: string | undefined;
  readonly format: 'text' | 'markdown' | 'json';
  readonly env: Environment;
  readonly input: () => Promise<Buffer>;
}

class BadFile extends Error {}

/**
 * `gatehouse diff`. Exit code 0: no request moves; 1: some move, or it is not known of some; 2: wrong use, or settings that do not load.
 */
export async function diffCommand(options: DiffOptions): Promise<0 | 1 | 2> {
  const { before, after, env, err } = options;
  let pair: SettingsPair | undefined;
  try {
    const version = (configs: string) => ({ configs, files: diskFiles, env });
    pair = await openPair(version(before), version(after), systemClock);
    return await report(pair, options);
  } catch (error) {
    if (error instanceof SettingsRefused) err(formatDiagnostics(error.diagnostics, 'pretty'));
    else if (error instanceof BadLine || error instanceof BadFile) err(`gatehouse: ${printable(error.message)}\n`);
    else throw error;
    return 2;
  } finally {
    await pair?.close();
  }
}

async function report(pair: SettingsPair, options: DiffOptions): Promise<0 | 1> {
  const { requests, format, out } = options;
  const asked = requests === undefined ? generatedQuestions(pair) : await readFrom(requests, pair, options);
  const changes: EffectChange[] = [];
  for await (const { event, data } of effectOf({ ...asked, pair, clock: systemClock })) {
    if (event === 'change') changes.push(data);
    if (event !== 'done') continue;
    const shown = { changes, done: data };
    if (format === 'json') out(`${JSON.stringify(shown)}\n`);
    else out(format === 'markdown' ? effectMarkdown(shown) : effectText(shown));
    return data.changed + data.unknown > 0 ? 1 : 0;
  }
  throw new Error('the comparison did not end');
}

async function readFrom(path: string, pair: SettingsPair, { input }: Pick<DiffOptions, 'input'>) {
  try {
    return path === '-'
      ? await readRequests([await input()], 'standard input', readingOf(pair))
      : await readRequests(createReadStream(path), path, readingOf(pair));
  } catch (error) {
    if (error instanceof BadLine) throw error;
    throw new BadFile(`the file ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
