import type { Fields } from '../../../../schemas/types.generated.ts';
import { meantField, readFieldPath } from '../../catalog/fields/field-path.ts';
import type { Report } from '../../kernel/report.ts';
import { showValue } from '../values/show.ts';
import { within, type Check } from './check.ts';

export const checkFields: Check = () => ({
  entry: ({ fields }, report) => checkFieldRules(fields, within(report, 'fields')),
  key: ({ fields }, report) => checkFieldRules(fields, within(report, 'fields')),
});

/** Checks `fields` of a key or of a catalog entry. */
export function checkFieldRules(fields: Fields | undefined, report: Report): void {
  if (!fields) return;
  const { deny = [], allow = [] } = fields;
  for (const [list, texts] of [['deny', deny] as const, ['allow', allow] as const]) {
    for (const [index, text] of texts.entries()) checkPath(text, within(report, list, index));
  }
  for (const [index, text] of allow.entries()) {
    if (!deny.includes(text)) continue;
    report({
      path: ['allow', index],
      severity: 'warning',
      message: `\`deny\` refuses ${showValue(text, undefined)}, so \`allow\` has no effect on it`,
    });
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
  if (suggestion !== undefined)
    report({
      path: [],
      severity: 'warning',
      message: `${showValue(text, undefined)} is not a known request field`,
      suggestion,
    });
}
