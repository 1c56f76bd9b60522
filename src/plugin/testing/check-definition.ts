import { isObject } from '../../formats/json/object.ts';
import { PLUGIN_LEVELS } from '../../core/kernel/define.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import type { Plugin } from '../define.ts';
import { finding, type PluginFinding } from './finding.ts';
import { optionProblems } from './run-plugin.ts';

/** The rules for what a plugin declares: its name, its level and the schema of its options. */
export function checkDefinition({ name, level, options, provides }: Plugin): readonly PluginFinding[] {
  return [
    ...(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)
      ? []
      : [finding('name', 'name', `the name "${name}" is not in kebab-case`)]),
    ...(PLUGIN_LEVELS.includes(level)
      ? []
      : [finding('level', 'level', `the level "${level}" is not one of ${PLUGIN_LEVELS.join(', ')}`)]),
    ...(new Set(provides).size === provides.length ? [] : [finding('provides', 'provides', 'it has a name twice')]),
    ...schemaFindings(options, 'options'),
  ];
}

/** Every object of the schema refuses unknown keys, every option has a description, and every default is valid. */
function schemaFindings(schema: object, place: string): PluginFinding[] {
  const { type, properties, additionalProperties } = fieldsOf(schema);
  if (type !== 'object')
    return place === 'options' ? [finding('options-closed', place, 'they are not of type object')] : [];
  const closed = additionalProperties === false || (isObject(additionalProperties) && properties === undefined);
  return [
    ...(closed ? [] : [finding('options-closed', place, 'unknown keys are not refused')]),
    ...Object.entries(isObject(properties) ? properties : {}).flatMap(([name, option]) =>
      optionFindings(option, `${place}.${name}`),
    ),
  ];
}

function optionFindings(option: unknown, place: string): PluginFinding[] {
  if (!isObject(option)) return [finding('options-described', place, 'it has no schema')];
  const { description, items, default: byDefault } = fieldsOf(option);
  const wrong = byDefault === undefined ? undefined : problemsOf(option, byDefault);
  const isOpen = PROBES.every((value) => problemsOf(option, value) === undefined);
  return [
    ...(typeof description === 'string' && description.trim() !== ''
      ? []
      : [finding('options-described', place, 'it has no description')]),
    ...(wrong ? [finding('options-default', place, `it refuses its own default: ${wrong}`)] : []),
    ...(isOpen ? [finding('options-refuse', place, 'it accepts every value')] : []),
    ...schemaFindings(option, place),
    ...(isObject(items) ? schemaFindings(items, `${place}[]`) : []),
  ];
}

/** A schema that means something refuses one of them. */
const PROBES: readonly unknown[] = ['\u0000', -1.5, true, null, [[]], { '\u0000': {} }];

/** A schema that cannot be compiled is reported where the plugin is made. */
function problemsOf(schema: object, value: unknown): string | undefined {
  try {
    return optionProblems(schema, value);
  } catch (error) {
    return messageOf(error);
  }
}

const fieldsOf = (schema: object): Readonly<Record<string, unknown>> => Object.fromEntries(Object.entries(schema));
