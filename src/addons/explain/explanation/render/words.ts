import type { FieldSettings } from '../../../../core/kernel/index.ts';
import type { SettingPlace, FieldSource } from '../explanation.ts';
import { span, type Line, type TextSpan } from './layout.ts';

const placeText = ({ file, line, column }: SettingPlace): string => `${file}:${line}:${column}`;

export function sourceText(source: FieldSource): string {
  switch (source.kind) {
    case 'client':
      return source.path;
    case 'header':
      return `the header ${source.name}`;
    case 'settings':
      return placeText(source.at);
    case 'plugin':
      return source.on ? `the plugin ${source.plugin} ← ${placeText(source.on)}` : `the plugin ${source.plugin}`;
    case 'gateway':
      return source.what;
  }
}

/** `← max_tokens ← configs/gateway/prod.yaml:14:7` */
export const arrow = (...texts: readonly string[]): Line => {
  const present = texts.filter((text) => text !== '');
  return present.length === 0 ? [] : [span(present.map((text) => `← ${text}`).join(' '), 'aside')];
};

export const from = (source: FieldSource): Line => arrow(sourceText(source));
export const at = (place: SettingPlace | undefined): Line => (place ? arrow(placeText(place)) : []);
export const aside = (text: string): TextSpan => span(text, 'aside');

/** In the notation of settings: `60s`, `1500ms`. */
export function duration(ms: number): string {
  const units = [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const;
  const unit = units.find(([, size]) => ms >= 2 * size && ms % size === 0) ?? units.find(([, size]) => ms === size);
  return unit ? `${ms / unit[1]}${unit[0]}` : `${Math.round(ms)}ms`;
}

export const count = (number: number, noun: string): string => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;

/** 1,234: the same in every locale. `toLocaleString` would load ICU's data: 25 ms of a command (measured). */
const grouped = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');

const LONGEST = 60;

/** A value as JSON; a long one is truncated, with its total size. */
export function valueText(value: unknown, longest = LONGEST): string {
  if (value === undefined) return 'nothing';
  const json = JSON.stringify(value) ?? 'nothing';
  if (json.length <= longest) return json;
  if (typeof value === 'string') return `${cutText(json, longest)}… (${grouped(value.length)} characters)`;
  if (Array.isArray(value)) return `[…] (${count(value.length, 'item')})`;
  return `{…} (${Object.keys(Object(value)).slice(0, 4).join(', ')}${Object.keys(Object(value)).length > 4 ? ', …' : ''})`;
}

/** Plain text without quotes: URLs, header values. */
export const shortText = (text: string, longest: number): string =>
  text.length <= longest ? text : `${cutText(text, longest)}… (${grouped(text.length)} characters)`;

/** Truncates without splitting a surrogate pair. */
const cutText = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');

export const listed = (items: readonly string[], conjunction = 'and'): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${conjunction} ${items.at(-1)}`;

/** `the fields a, b; not c; not those of shared_credentials; media of gs://bucket` */
export function fieldsText({ preset, deny, allow, mediaBuckets, vendorObjects }: FieldSettings): string {
  const refusesFiles = vendorObjects && !vendorObjects.includes('files');
  const buckets = mediaBuckets ?? (preset || refusesFiles ? [] : undefined);
  return [
    allow ? `the fields model, ${allow.join(', ')}` : 'all fields',
    ...(deny ? [`not ${deny.join(', ')}`] : []),
    ...(preset ? [`not those of ${preset}`] : []),
    ...(vendorObjects ? [vendorObjectsText(vendorObjects)] : []),
    ...(buckets ? [`media of ${buckets.map((bucket) => `gs://${bucket}`).join(', ') || 'no bucket'}`] : []),
  ].join('; ');
}

const vendorObjectsText = (passing: readonly string[]): string =>
  `no ids of the vendor's objects${passing.length > 0 ? ` but ${listed(passing)}` : ''} without the caller's own token`;
