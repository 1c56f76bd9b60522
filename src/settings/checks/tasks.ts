import { MODEL_TASKS, TASKS } from '../../operations/tasks.ts';
import type { ModelTask, Report, Target } from '../../plugin/index.ts';
import { PROVIDERS } from '../../providers/index.ts';
import type { JsonPath } from '../read/pointer.ts';
import type { KnownNames } from './known.ts';
import { entryOfTarget } from './targets.ts';

interface Placed {
  readonly route: Target;
  readonly path: JsonPath;
}

/** Targets of one config replace each other: warns of a model that serves no task of the first target's model. */
export function checkTasks(targets: readonly Placed[], known: KnownNames, report: Report): void {
  const reported = targets.flatMap(({ route, path }) => {
    const tasks = tasksOf(route, known);
    return tasks ? [{ tasks, path, name: route.path.replace('config.', '') }] : [];
  });
  const [first, ...others] = reported;
  const misfit = others.find(
    ({ tasks }) => !purposesOf(tasks).some((purpose) => purposesOf(first!.tasks).includes(purpose)),
  );
  if (!first || !misfit) return;
  const message = `this model is for ${purposesOf(misfit.tasks).join(' and ')}, the model of \`${first.name}\` for ${purposesOf(first.tasks).join(' and ')}: no request can use both`;
  report({ path: [...misfit.path, 'override_params', 'model'], severity: 'warning', message });
}

const purposesOf = (tasks: ReadonlySet<ModelTask>): readonly string[] =>
  MODEL_TASKS.filter((task) => tasks.has(task)).flatMap((task) => TASKS[task].purpose ?? []);

function tasksOf(target: Target, known: KnownNames): ReadonlySet<ModelTask> | undefined {
  const entry = entryOfTarget(target, known);
  const model = target.overrideParams?.['model'];
  if (!entry || typeof model !== 'string') return undefined;
  const tasks = PROVIDERS[entry.provider].tasksOf(entry, model.replace(/^@[^/]*\//, ''));
  return tasks && purposesOf(tasks).length > 0 ? tasks : undefined;
}
