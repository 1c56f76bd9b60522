import { readFile } from 'node:fs/promises';
import { GatewayError } from '../../../plugin/index.ts';
import { isObject } from '../../../core/kernel/index.ts';
import { findReference, readPrompts, type PromptsOptions } from './read.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';

export interface RenderOptions extends PromptsOptions {
  /** `summary@3` */
  readonly reference: string;
  /** File with the variables as JSON; `-`: standard input. Undefined: the examples and defaults of the variables. */
  readonly variables: string | undefined;
  readonly input: () => Promise<Buffer>;
}

/** Text that a rendered prompt may have here. */
const BUDGET = 16 * 1024 * 1024;

/**
 * `gatehouse prompts render`: prints the fields of the chat request as JSON. Exit code 0: printed; 1: errors in the
 * prompts or variables; 2: the folder does not exist.
 */
export async function renderPromptCommand(options: RenderOptions): Promise<0 | 1 | 2> {
  const { reference, err, out } = options;
  const read = await readPrompts(options);
  if (typeof read === 'number') return read;
  const found = findReference(read, reference, options);
  if (!found) return 1;
  try {
    const given =
      options.variables === undefined ? examplesOf(found.version) : await variablesIn(options.variables, options);
    const { fields } = read.library.rendererOf(found.version).render(given, BUDGET);
    out(`${JSON.stringify(fields, null, 2)}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof GatewayError) && !(error instanceof CannotRead)) throw error;
    err(`${error.message}\n`);
    return 1;
  }
}

class CannotRead extends Error {}

const examplesOf = ({
  variables,
}: {
  readonly variables: ReadonlyMap<string, { readonly example?: unknown }>;
}): Record<string, unknown> =>
  Object.fromEntries([...variables].flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])));

async function variablesIn(path: string, { input }: Pick<RenderOptions, 'input'>): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(path === '-' ? String(await input()) : await readFile(path, 'utf8'));
  } catch (error) {
    throw new CannotRead(`${path}: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw new CannotRead(`${path}: the variables must be a JSON object`);
  return value;
}
