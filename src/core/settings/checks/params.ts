import type { CatalogEntry, GatewayFile, Target as TargetFile, Fields } from '../../../../schemas/types.generated.ts';
import { lostAt, mistakeIn } from '../../catalog/fields/param-doubts.ts';
import type { Report } from '../../kernel/report.ts';
import { showValue } from '../values/show.ts';
import { providerOf } from '../../providers/index.ts';
import { isInside, itemsOf, within, type Check, type CheckedConfig } from './check.ts';
import { entryOfTarget, PARAMS, paramsOf, type ParamsKey } from './entries.ts';
import { meantField, readFieldPath } from '../../catalog/fields/field-path.ts';

/** Fields that an operation requires. `model` is checked apart: the gateway itself needs it for every operation. */
const NEEDED: ReadonlySet<string> = new Set(['messages', 'input', 'prompt']);

/** Checks the parameters that one node of the config writes, independent of the upstream. */
export const checkParams: Check = ({ catalog }) => ({
  config: (config) => checkLosses(config, catalog?.providers),
  node({ file }, report) {
    for (const key of PARAMS) {
      checkModel(file, key, report);
      checkValues(file, key, report);
    }
    for (const [field, at] of itemsOf(file.drop_params, report, 'drop_params')) {
      if (field === 'model') at({ path: [], message: 'a request cannot be sent without its `model`' });
      const doubt = doubtAbout(field, file);
      if (doubt !== undefined) at({ path: [], severity: 'warning', message: doubt });
    }
  },
});

function doubtAbout(field: string, { override_params: overrides }: GatewayFile | TargetFile): string | undefined {
  if (field === 'model') return undefined;
  if (NEEDED.has(field)) return `operations that require \`${field}\` refuse requests without it`;
  if (/[[\]]/.test(field)) return 'dots select keys of objects only: a field inside a list cannot be named';
  if (isSet(overrides, field.split('.')))
    return `\`override_params\` sets \`${field}\`, and \`drop_params\` removes it again`;
  return undefined;
}

function checkModel(file: GatewayFile | TargetFile, key: ParamsKey, report: Report): void {
  const params = file[key];
  if (!params || !Object.hasOwn(params, 'model')) return;
  const { model } = params;
  if (typeof model === 'string' && model !== '') return;
  // In `default_params` a null has no effect.
  if (model === null && key === 'default_params') return;
  const message =
    model === null
      ? '`model: null` removes the model from the request, which cannot be sent without one'
      : `\`model\` must be the name of a model, not ${showValue(model, undefined)}`;
  report({ path: [key, 'model'], message });
}

/** A value that the API of its name does not have: every request with it is refused. */
function checkValues(file: GatewayFile | TargetFile, key: ParamsKey, report: Report): void {
  for (const [name, value] of Object.entries(file[key] ?? {})) {
    if (value === null) continue;
    const mistake = mistakeIn(name, value);
    if (mistake !== undefined)
      report({ path: [key, name], severity: 'warning', message: `requests are refused: ${mistake}` });
  }
}

/** Parameters that a target leaves out, once at the place that sets each. */
function checkLosses({ targets, nodes, report }: CheckedConfig, entries: readonly CatalogEntry[] | undefined): void {
  const told = new Set<string>();
  for (const { route, path } of targets) {
    const entry = entryOfTarget(route, entries);
    const { model } = route.overrideParams ?? {};
    const name = typeof model === 'string' ? model.replace(/^@[^/]*\//, '') : '';
    const spoken = entry && providerOf(entry).speaks(entry, name);
    if (!spoken) continue;
    const around = nodes.filter((node) => isInside(path, node.path));
    for (const key of PARAMS) {
      for (const [param, value] of Object.entries(paramsOf(route, key) ?? {})) {
        const writer = around.findLast(({ file }) => isSet(file[key], [param]));
        if (!writer || value === null) continue;
        const reason = lostAt(param, value, name, spoken);
        const at = [...writer.path, key, param];
        if (reason === undefined || told.has(at.join('\n'))) continue;
        told.add(at.join('\n'));
        const message = `\`${param}\` is left out of requests to @${entry.slug}: ${reason}`;
        report({ path: at, on: 'key', severity: 'warning', message });
      }
    }
  }
}

function isSet(params: unknown, [key, ...inner]: readonly string[]): boolean {
  if (key === undefined) return params !== null;
  if (typeof params !== 'object' || params === null || !Object.hasOwn(params, key)) return false;
  return isSet(Reflect.get(params, key), inner);
}

export const checkFields: Check = () => ({
  entry: ({ fields }, report) => checkFieldRules(fields, within(report, 'fields')),
  key: ({ fields }, report) => checkFieldRules(fields, within(report, 'fields')),
});

/** Checks `fields` of a key or of a catalog entry. */
export function checkFieldRules(fields: Fields | undefined, report: Report): void {
  if (!fields) return;
  const { deny = [], allow = [] } = fields;
  for (const [text, at] of itemsOf(deny, report, 'deny')) checkPath(text, at);
  for (const [text, at] of itemsOf(allow, report, 'allow')) {
    checkPath(text, at);
    const message = `\`deny\` refuses ${showValue(text, undefined)}, so \`allow\` has no effect on it`;
    if (deny.includes(text)) at({ path: [], severity: 'warning', message });
  }
  if (fields.allow && !allow.some((text) => CONTENTS.has(text.split(/[.[]/, 1)[0]!))) {
    const message =
      '`allow` lists none of `messages`, `input`, `prompt` and `contents`: every request would be refused';
    report({ path: ['allow'], severity: 'warning', message });
  }
}

/** Every operation requires one of these. */
const CONTENTS: ReadonlySet<string> = new Set(['messages', 'input', 'prompt', 'contents', '**']);

function checkPath(text: string, report: Report): void {
  const read = readFieldPath(text);
  if ('message' in read) return report({ path: [], ...read });
  const suggestion = meantField(read);
  const message = `${showValue(text, undefined)} is not a known request field`;
  if (suggestion !== undefined) report({ path: [], severity: 'warning', message, suggestion });
}
