import type { LoadForCommand, ValidationPass } from '../process/add-on-parts.ts';
import { formatDiagnostics, type DiagnosticFormat } from '../settings/source/diagnostic.ts';
import { type LoadResult, loadSettings } from '../settings/read/load.ts';

export interface ValidateOptions {
  readonly dir: string;
  readonly format: DiagnosticFormat;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  /** Default: reads the files alone. */
  readonly load?: LoadForCommand | undefined;
  /** Run in order, even after semantic errors, so that one run reports everything. */
  readonly passes?: readonly ValidationPass[];
}

/** `gatehouse validate`. Exit code 0: valid, perhaps with warnings; 1: errors; 2: the folder does not exist. */
export async function validateCommand({
  dir,
  format,
  env,
  out,
  load = readFiles,
  passes = [],
}: ValidateOptions): Promise<0 | 1 | 2> {
  const result = await load(dir, env);
  if (result.settings) for (const pass of passes) await pass(result.settings, result);
  out(formatDiagnostics(result.diagnostics, format));
  if (format === 'pretty')
    out(`${summary(result, dir)}${result.folderExists && !result.settings && passes.length > 0 ? INCOMPLETE : ''}\n`);
  if (!result.folderExists) return 2;
  return result.ok ? 0 : 1;
}

const readFiles: LoadForCommand = (dir, env) => loadSettings(dir, { env });

const INCOMPLETE = '; plugins, credentials and tests are checked once these are fixed';

function summary({ diagnostics, settings, ok }: LoadResult, dir: string): string {
  const found = (['error', 'warning'] as const).flatMap((severity) => {
    const number = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
    return number === 0 ? [] : [count(number, severity)];
  });
  if (!ok || !settings) return `${dir}: ${found.join(', ')}`;
  const { catalog, keys, gateway } = settings;
  const sizes = [
    count(catalog.providers.length, 'provider'),
    count(keys.keys.length, 'key'),
    count(gateway.size, 'gateway config'),
  ];
  return `${dir}: valid (${[...sizes, ...found].join(', ')})`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
