import { MODEL_TASKS } from '../../operations/tasks.ts';
import { GatewayError, type ModelTask } from '../../plugin/index.ts';
import { readEmbeddingSettings } from './embeddings/settings.ts';
import { ENDPOINT_PREFIX, google, readFamily, type Named } from './families.ts';

/** The tasks of a model, as far as its name determines them; undefined where it does not. */
export function tasksOf(name: string): ReadonlySet<ModelTask> | undefined {
  if (name.startsWith(ENDPOINT_PREFIX)) return undefined;
  const named = attempt(() => readFamily(name));
  if (!named) return undefined;
  const tasks = new Set(MODEL_TASKS.filter((task) => attempt(() => endpointOf(named, task)) !== undefined));
  // All of Google's models have a path for `generate`, but models for embeddings and images do not answer there.
  const draws = tasks.has('images') && !named.model.startsWith('gemini-');
  if (named.family === google && (tasks.has('embeddings') || draws)) tasks.delete('generate');
  if (draws) tasks.delete('count_tokens');
  return tasks;
}

const endpointOf = ({ family, model }: Named, task: ModelTask) =>
  family(model, { task, stream: false }, readEmbeddingSettings());

/** Undefined where it throws a GatewayError. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
