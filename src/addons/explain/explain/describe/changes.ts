import type { ChangeExplanation, FieldSource } from '../../explanation/explanation.ts';
import { changesOf, type Edit } from '../../../../plugin/index.ts';
import type { Change } from '../../../../plugin/edits.ts';
import type { Target } from '../../../../core/kernel/index.ts';
import { SHARED_NAMES } from '../../../../formats/fields/shared-parameters.ts';
import { valueAt } from '../../../../core/settings/schema/pointer.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { levelsOf } from '../../../../core/dry-run/written-config.ts';
import { isOfPrompt, messageSource, promptSource } from './prompt.ts';
import { configSource, ownSource, pluginSource, sourceAt, sourceInCatalog } from './places.ts';

/** The changes of the settings to the client's body, field by field. */
export function describeChanges(seen: Observation, one: SeenAttempt): readonly ChangeExplanation[] {
  const { target } = one.attempt;
  return changesOf(one.body).flatMap(({ edit, was }) => [
    changeOf(seen, target, { edit, was }),
    ...messageChanges(seen, edit),
  ]);
}

const changeOf = (seen: Observation, target: Target, { edit, was }: Change): ChangeExplanation => ({
  path: edit.path.join('.'),
  action: actionOf(edit),
  ...(edit.value !== undefined && { value: edit.value }),
  ...(was !== undefined && { was }),
  source: sourceOf(seen, target, edit),
});

/** The messages of a prompt, each with its own place in the prompt's file. */
function messageChanges(seen: Observation, edit: Edit): readonly ChangeExplanation[] {
  if (edit.path.join('.') !== 'messages' || !Array.isArray(edit.value)) return [];
  return edit.value.flatMap((value: unknown, index): ChangeExplanation[] => {
    const source = messageSource(seen, index);
    return source && isOfPrompt(seen, edit) ? [{ path: `messages.${index}`, action: 'set', value, source }] : [];
  });
}

const actionOf = ({ value, source }: Edit): ChangeExplanation['action'] => {
  if (value === undefined) return 'removed';
  return source.endsWith(' default_params') ? 'default' : 'set';
};

/** The source of an edit: its `source` is the target's path followed by the name of the parameter. */
function sourceOf(seen: Observation, target: Target, { path, source, value }: Edit): FieldSource {
  if (isOfPrompt(seen, { source })) return promptSource(seen, path) ?? { kind: 'gateway', what: source };
  const alias = seen.exchange.alias?.listed;
  if (alias !== undefined && source === `alias ${alias}`)
    return sourceInCatalog(seen, ['aliases', alias, 'target']) ?? { kind: 'gateway', what: source };
  const step = seen.steps.find(({ place }) => place.plugin.reads && source === `plugin ${place.instance}`);
  if (step) return pluginSource(seen, step.place);
  if (source === 'path') return { kind: 'gateway', what: "the request's path" };
  const setting = source.startsWith(`${target.path} `) ? source.slice(target.path.length + 1) : undefined;
  const reported = (): FieldSource | undefined => {
    for (const written of spellingsOf(path)) {
      const found = sourceOfName(written);
      if (found) return found;
    }
    return undefined;
  };
  const sourceOfName = (written: readonly string[]): FieldSource | undefined => {
    if (setting === 'drop_params') return dropSource(seen, target, written);
    if (setting === 'override_params' && value === undefined) return nullSource(seen, target, written);
    return configSource(seen, target.path, [setting ?? '', ...written]);
  };
  return reported() ?? { kind: 'gateway', what: source };
}

/** A config may have the parameter under its name in another API. */
function spellingsOf(path: readonly string[]): readonly (readonly string[])[] {
  const own = path.join('.');
  const others = SHARED_NAMES.find((names) => names.includes(own))?.filter((name) => name !== own) ?? [];
  return [path, ...others.map((name) => name.split('.'))];
}

/** The level whose null deleted the field; a nearer level may have set it again. */
function nullSource(seen: Observation, { path: target }: Target, path: readonly string[]): FieldSource | undefined {
  const keys = ['override_params', ...path];
  const level = levelsOf(seen, target).find(({ says }) => valueAt(says, keys) === null);
  return level && sourceAt(seen, [...level.path, ...keys]);
}

/** `drop_params` of all levels add up, from the config to the target. */
function dropSource(seen: Observation, { path: target }: Target, path: readonly string[]): FieldSource | undefined {
  const wanted = path.join('.');
  for (const level of levelsOf(seen, target)) {
    const index = level.says.drop_params?.indexOf(wanted) ?? -1;
    if (index >= 0) return ownSource(seen, level.target, ['drop_params', index]);
  }
  return undefined;
}
