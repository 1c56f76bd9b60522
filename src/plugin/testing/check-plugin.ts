import { isCreated, PLUGIN_LEVELS } from '../../core/kernel/define.ts';
import type { Plugin } from '../define.ts';
import { createHost, optionProblems, withDefaults, type HostSetup } from './run-plugin.ts';
import { isObject } from '../../formats/json/object.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

export interface CheckSetup extends HostSetup {
  /** Options to create the plugin with, for a plugin with required options. Default: none. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/**
 * Checks the rules that every plugin should follow, as the built-in ones do. Returns one sentence per violation:
 * `expect(await checkPlugin(plugin)).toEqual([])`.
 */
export async function checkPlugin(plugin: Plugin, setup: CheckSetup = {}): Promise<readonly string[]> {
  const { name, level, options, provides } = plugin;
  const faults = [
    ...(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) ? [] : [`the name "${name}" is not in kebab-case`]),
    ...(PLUGIN_LEVELS.includes(level) ? [] : [`the level "${level}" is not one of ${PLUGIN_LEVELS.join(', ')}`]),
    ...(new Set(provides).size === provides.length ? [] : ['`provides` has a name twice']),
    ...schemaFaults(options, 'the options'),
  ];
  return [...faults, ...(await creationFaults(plugin, setup))];
}

async function creationFaults(plugin: Plugin, setup: CheckSetup): Promise<string[]> {
  try {
    const options = withDefaults(plugin.options, setup.options ?? {});
    const problems = optionProblems(plugin.options, options);
    // `optionFaults` reports a default that its own schema rejects.
    if (problems && optionProblems(plugin.options, setup.options ?? {}) === undefined) return [];
    if (problems) return [`the schema refuses the options it is made with here: ${problems}`];
    const { host, close } = createHost(plugin, setup);
    const created: unknown = await plugin.create({ options, host });
    await close();
    return isCreated(created) ? [] : ['create() gives no middleware'];
  } catch (error) {
    return [`it cannot be made: ${messageOf(error)}`];
  }
}

/**
 * Checks that every object of the schema refuses unknown keys, every option has a description and every default is
 * valid.
 */
function schemaFaults(schema: object, where: string): string[] {
  const { type, properties, additionalProperties } = fieldsOf(schema);
  if (type !== 'object') return where === 'the options' ? ['the options are not of type object'] : [];
  const closed = additionalProperties === false || (isObject(additionalProperties) && properties === undefined);
  return [
    ...(closed ? [] : [`${where}: unknown keys are not refused`]),
    ...Object.entries(isObject(properties) ? properties : {}).flatMap(([name, option]) =>
      optionFaults(option, where === 'the options' ? name : `${where}.${name}`),
    ),
  ];
}

function optionFaults(option: unknown, where: string): string[] {
  if (!isObject(option)) return [`${where}: has no schema`];
  const { description, items, default: byDefault } = fieldsOf(option);
  const wrong = byDefault === undefined ? undefined : optionProblems(option, byDefault);
  return [
    ...(typeof description === 'string' && description.trim() !== '' ? [] : [`${where}: has no description`]),
    ...(wrong ? [`${where}: refuses its own default: ${wrong}`] : []),
    ...schemaFaults(option, where),
    ...(isObject(items) ? schemaFaults(items, `${where}[]`) : []),
  ];
}

const fieldsOf = (schema: object): Readonly<Record<string, unknown>> => Object.fromEntries(Object.entries(schema));
