import { printable } from '../../../core/kernel/layout.ts';
import type { SettingPlace } from '../explanation/explanation.ts';
import type { EffectChange, EffectDone, UnknownReason } from './effect.ts';

export interface EffectReport {
  readonly changes: readonly EffectChange[];
  readonly done: EffectDone;
}

const at = (place: SettingPlace | undefined): string =>
  place ? `${place.file}:${place.line}:${place.column}` : 'no line of the settings';

const count = (number: number): string => number.toLocaleString('en');
const valueText = (value: unknown): string => (value === undefined ? 'as the caller sends it' : JSON.stringify(value));

/** `312 of 1,000 requests move, 680 do not, 8 unknown` */
export function headline({ same, changed, unknown }: EffectDone): string {
  const all = same + changed + unknown;
  const parts = [`${count(changed)} of ${count(all)} requests move`, `${count(same)} do not`];
  return [...parts, ...(unknown > 0 ? [`${count(unknown)} unknown`] : [])].join(', ');
}

export const effectText = ({ changes, done }: EffectReport): string =>
  [
    headline(done),
    ...changes.map((change) => `\n${changeLines(change).map(printable).join('\n')}`),
    ...(done.reasons.length > 0 ? [`\nUnknown:\n${done.reasons.map(reasonLines).map(printable).join('\n')}`] : []),
    '',
  ].join('\n');

const changeLines = (change: EffectChange): readonly string[] => [
  change.before.to !== change.after.to
    ? `${count(change.count)}: ${change.before.to} → ${change.after.to}`
    : `${count(change.count)}: ${change.after.to}, sent otherwise`,
  `  before  ${at(change.before.place)}`,
  `  after   ${at(change.after.place)}`,
  ...change.fields.map(
    ({ path, before, after, place }) =>
      `  field   ${path}: ${valueText(before)} → ${valueText(after)}${place ? ` (${at(place)})` : ''}`,
  ),
  `  example ${change.sample}`,
];

const reasonLines = ({ count: number, reason, place, sample }: UnknownReason): string =>
  `${count(number)}: ${reason}${place ? ` (${at(place)})` : ''}${sample === '' ? '' : `; example ${sample}`}`;

/** For a comment on a pull request. */
export const effectMarkdown = ({ changes, done }: EffectReport): string =>
  [
    `**${headline(done)}**`,
    ...(changes.length > 0
      ? [
          '',
          '| Requests | Before | After | Fields of the sent body | Example |',
          '| ---: | --- | --- | --- | --- |',
          ...changes.map(
            ({ count: number, before, after, fields, sample }) =>
              `| ${count(number)} | ${code(before.to)} ${placeCell(before.place)} | ${code(after.to)} ${placeCell(after.place)} | ${fields
                .map(
                  ({ path, before: was, after: is }) =>
                    `${code(path)}: ${code(valueText(was))} → ${code(valueText(is))}`,
                )
                .join('<br>')} | ${code(sample)} |`,
          ),
        ]
      : []),
    ...(done.reasons.length > 0
      ? [
          '',
          '| Unknown | Reason | Example |',
          '| ---: | --- | --- |',
          ...done.reasons.map(
            ({ count: number, reason, place, sample }) =>
              `| ${count(number)} | ${cell(reason)} ${placeCell(place)} | ${sample === '' ? '' : code(sample)} |`,
          ),
        ]
      : []),
    '',
  ].join('\n');

/** Texts come from settings and callers: none of them may end its cell or become markup. */
const cell = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? code(part.slice(1, -1)) : escaped(part)))
    .join('');
const escaped = (text: string): string =>
  text.replaceAll(/[\\|<>*_[\]&`]/g, (sign) => (sign === '<' ? '&lt;' : `\\${sign}`));
const code = (text: string): string =>
  `\`${text.replaceAll('`', "'").replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')}\``;
const placeCell = (place: SettingPlace | undefined): string => (place ? `(${code(at(place))})` : '');
