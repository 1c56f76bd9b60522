import { MODEL_TASKS } from '../../operations/tasks.ts';
import { GatewayError, type ModelTask } from '../../plugin/index.ts';
import { readEmbeddingSettings } from './embeddings/settings.ts';
import { ENDPOINT_PREFIX, google, readFamily, type Named } from './families.ts';

/** What a model can be asked for, as far as its name tells. Undefined: it tells nothing. */
export function tasksOf(name: string): ReadonlySet<ModelTask> | undefined {
  if (name.startsWith(ENDPOINT_PREFIX)) return undefined;
  const named = attempt(() => readFamily(name));
  if (!named) return undefined;
  const tasks = new Set(MODEL_TASKS.filter((task) => attempt(() => endpointOf(named, task)) !== undefined));
  // Answers of all of Google's models are asked for at the same address; those made for vectors or pictures have none there.
  const draws = tasks.has('images') && !named.model.startsWith('gemini-');
  if (named.family === google && (tasks.has('embeddings') || draws)) tasks.delete('generate');
  if (draws) tasks.delete('count_tokens');
  return tasks;
}

const endpointOf = ({ family, model }: Named, task: ModelTask) =>
  family(model, { task, stream: false }, readEmbeddingSettings());

/** Undefined: refused. */
function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
