import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { explanationJson, renderExplanation } from '../explanation/render/explanation.ts';
import { nearest } from '../../../core/kernel/index.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { ExplainHangs } from '../explain/explain-hangs.ts';
import { Explainer } from '../explain/explainer.ts';
import type { ExplainQuestion } from '../explain/question.ts';
import { UnknownKey } from '../../../core/dry-run/supposed-caller.ts';
import { withinTime } from '../../../core/compose/time-limit.ts';
import { formatDiagnostics, SettingsRefused } from '../../../core/settings/source/diagnostic.ts';
import { diskFiles } from '../../../core/settings/source/files.ts';
import { createLogger } from '../../../core/record/log/logger.ts';
import { BadRequest, readRequest, type RequestFlags } from './explain-request.ts';
import type { ShowOptions } from '../../../core/commands/terminal/output.ts';

export interface ExplainOptions extends ShowOptions, RequestFlags {
  readonly configs: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file, or `-` for standard input. */
  readonly request: string;
  readonly key?: string | undefined;
  readonly draws: readonly number[];
  /** Milliseconds since 1970. */
  readonly at?: number | undefined;
  readonly input: () => Promise<Buffer>;
}

/** More than the explainer's limit for plugins, and longer than a user waits. */
const LIMIT_MS = 300_000;

/**
 * `gatehouse explain`. Exit code 0: explained, even if the gateway would refuse the request; 1: errors in the settings,
 * or a plugin does not end; 2: the folder, file or key does not exist, or the file is not a request.
 */
export async function explainCommand(options: ExplainOptions): Promise<0 | 1 | 2> {
  const { configs, env, err } = options;
  const log = createLogger({ level: 'silent' });
  const explainer = new Explainer({ configs, env, files: diskFiles, clock: systemClock, log, fakeMissing: true });
  try {
    // A hanging plugin may be all that is pending: without this limit Node would exit silently before there is a
    // result.
    const reported = await withinTime(explainer.explain(await readQuestion(options)), LIMIT_MS, systemClock);
    const { json, out } = options;
    out(json ? explanationJson(reported) : renderExplanation(reported, pageFor(options)));
    return 0;
  } catch (error) {
    if (error instanceof SettingsRefused) {
      err(formatDiagnostics(error.diagnostics, 'pretty'));
      return (await isFolder(configs)) ? 1 : 2;
    }
    if (error instanceof ExplainHangs) {
      err(`gatehouse: ${error.message}\n`);
      return 1;
    }
    if (!(error instanceof BadRequest) && !(error instanceof UnknownKey)) throw error;
    err(`gatehouse: ${error instanceof UnknownKey ? unknownKey(options.key, error) : error.message}\n`);
    return 2;
  } finally {
    await explainer.close();
  }
}

async function readQuestion(options: ExplainOptions): Promise<ExplainQuestion> {
  const { request, key, draws, at } = options;
  const name = request === '-' ? 'standard input' : request;
  return {
    ...readRequest(await readText(options, name), name, options),
    as: key,
    draws,
    at: at === undefined ? undefined : { now: systemClock.now(), wall: at },
  };
}

async function readText(options: ExplainOptions, name: string): Promise<string> {
  const bytes = await readBytes(options);
  // Decoding other bytes as text would change the body.
  if (!isUtf8(bytes)) throw new BadRequest(`${name} is not UTF-8 text, which JSON must be`);
  return bytes.toString();
}

async function readBytes({ request, input }: ExplainOptions): Promise<Buffer> {
  if (request === '-') return input();
  try {
    return await readFile(request);
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new BadRequest(missing ? `there is no file ${request}` : `the file ${request} cannot be read`, {
      cause: error,
    });
  }
}

function unknownKey(id = '', { named, known }: UnknownKey): string {
  const suggestion = nearest(id, known);
  const hint =
    suggestion === undefined ? `keys.yaml has ${known.join(', ') || 'none'}` : `did you mean "${suggestion}"?`;
  return `there is no key with ${named}; ${hint}`;
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** At most 120 columns: longer lines are hard to read on any screen. Files and pipes have no width. */
const pageFor = ({ terminal, colour }: ShowOptions): { readonly width: number; readonly colour: boolean } => ({
  width: Math.min(Math.max(terminal?.columns ?? 120, 60), 120),
  colour,
});
