import { isObject } from '../../formats/json/object.ts';
import { PLUGIN_LEVELS } from '../../core/kernel/define.ts';
import type { Plugin } from '../define.ts';
import { finding, type PluginFinding } from './finding.ts';
import { readOptionsOf } from './run-plugin.ts';

/** The rules for what a plugin declares: its name, its level and the schema of its options. */
export function* checkDefinition({ name, level, options, provides }: Plugin): Iterable<PluginFinding> {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name))
    yield finding('name', 'name', `the name "${name}" is not in kebab-case`);
  if (!PLUGIN_LEVELS.includes(level))
    yield finding('level', 'level', `the level "${level}" is not one of ${PLUGIN_LEVELS.join(', ')}`);
  if (new Set(provides).size < provides.length) yield finding('provides', 'provides', 'it has a name twice');
  if (!('type' in options) || options.type !== 'object')
    yield finding('options-closed', 'options', 'they are not of type object');
  yield* checkSchema({ ...options }, 'options');
}

/** Every object of the schema refuses unknown keys, every option has a description, and every default is valid. */
function* checkSchema(schema: Readonly<Record<string, unknown>>, place: string): Iterable<PluginFinding> {
  const { type, properties, additionalProperties, items } = schema;
  if (isObject(items)) yield* checkSchema(items, `${place}[]`);
  if (type !== 'object') return;
  if (additionalProperties !== false && (!isObject(additionalProperties) || properties !== undefined))
    yield finding('options-closed', place, 'unknown keys are not refused');
  for (const [name, option] of Object.entries(isObject(properties) ? properties : {}))
    yield* checkOption(name, option, `${place}.${name}`);
}

/** A schema that means something refuses one of them. */
const PROBES: readonly unknown[] = ['\u0000', -1.5, true, null, [[]], { '\u0000': {} }];

function* checkOption(name: string, option: unknown, place: string): Iterable<PluginFinding> {
  if (!isObject(option)) return yield finding('options-described', place, 'it has no schema');
  const { description } = option;
  if (typeof description !== 'string' || description.trim() === '')
    yield finding('options-described', place, 'it has no description');
  const alone = { type: 'object', properties: { [name]: option } };
  const problemsWith = (options: object) => readOptionsOf(alone, options).problems;
  const wrong = 'default' in option ? problemsWith({}) : undefined;
  if (wrong !== undefined) yield finding('options-default', place, wrong);
  if (PROBES.every((value) => problemsWith({ [name]: value }) === undefined))
    yield finding('options-refuse', place, 'it accepts every value');
  yield* checkSchema(option, place);
}
