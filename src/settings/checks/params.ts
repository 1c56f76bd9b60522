import type { GatewayFile, Target as TargetFile } from '../../../schemas/types.generated.ts';
import { FIELDS_OF_ONE_API } from '../../catalog/fields/field-path.ts';
import type { Report } from '../../plugin/index.ts';
import { showValue } from '../problems/show.ts';
import type { Check } from './check.ts';

/** Fields that an operation requires. `model` is checked apart: the gateway itself needs it for every operation. */
const NEEDED: ReadonlySet<string> = new Set(['messages', 'input', 'prompt']);

/** Checks the parameters that one node of the config writes, independent of the upstream. */
export const checkParams: Check = () => ({
  node({ file }, report) {
    checkModel(file, 'override_params', report);
    checkModel(file, 'default_params', report);
    checkForms(file, 'override_params', report);
    checkForms(file, 'default_params', report);
    for (const [index, field] of (file.drop_params ?? []).entries()) {
      const path = ['drop_params', index];
      if (field === 'model') report({ path, message: 'a request cannot be sent without its `model`' });
      const doubt = doubtAbout(field, file);
      if (doubt !== undefined) report({ path, severity: 'warning', message: doubt });
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

function checkModel(file: GatewayFile | TargetFile, key: 'override_params' | 'default_params', report: Report): void {
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

/** The form of an answer has no name that sets it in requests of every API. */
function checkForms(file: GatewayFile | TargetFile, key: 'override_params' | 'default_params', report: Report): void {
  for (const field of FIELDS_OF_ONE_API) {
    if (!isSet(file[key], field)) continue;
    const message = `\`${field.join('.')}\` is set in requests of its own API alone, because each API has another form of it`;
    report({ path: [key, ...field], on: 'key', severity: 'warning', message });
  }
}

function isSet(params: unknown, [key, ...inner]: readonly string[]): boolean {
  if (key === undefined) return params !== null;
  if (typeof params !== 'object' || params === null || !Object.hasOwn(params, key)) return false;
  return isSet(Reflect.get(params, key), inner);
}
