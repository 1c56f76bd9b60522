import { zone } from './prefs.ts';

/** Numbers and times as the page writes them. Unknown is `–` in a figure and `unknown` in a sentence, never 0. */
export const NONE = '–';

export function ms(value: number | undefined): string {
  if (value === undefined) return NONE;
  if (value < 1) return '<1 ms';
  if (value < 10_000) return `${COUNT.format(Math.round(value))} ms`;
  if (value < 120_000) return `${(value / 1000).toFixed(1)} s`;
  return duration(value);
}

/** `4 min`, `3 h 20 min`, `2 d 4 h` */
export function duration(value: number): string {
  const minutes = Math.round(value / 60_000);
  if (minutes < 1) return `${Math.max(0, Math.round(value / 1000))} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const COUNT = new Intl.NumberFormat('en');
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const count = (value: number | undefined): string => (value === undefined ? NONE : COUNT.format(value));
export const short = (value: number): string => (value < 10_000 ? COUNT.format(value) : SHORT.format(value));

/** At least two figures that mean something: `$0.000056`, `$0.0021`, `$12.03`. */
export function usd(value: number | undefined): string {
  if (value === undefined) return NONE;
  if (value === 0) return '$0';
  const size = Math.abs(value);
  const digits = size >= 1 ? 2 : Math.min(9, 1 - Math.floor(Math.log10(size)));
  return `${value < 0 ? '-' : ''}$${size.toLocaleString('en', { minimumFractionDigits: size >= 0.01 ? 2 : 0, maximumFractionDigits: digits })}`;
}

/** An amount of a budget. */
export const amount = (value: number | undefined | null, unit: 'nano_usd' | 'tokens'): string => {
  if (value === undefined || value === null) return 'unknown';
  return unit === 'tokens' ? `${short(value)} tokens` : usd(value / 1e9);
};

/** Why a cost is not known. */
export const unpriced = (reason = ''): string =>
  ({ model: 'the model has no price', usage: 'no tokens were counted' })[reason] ?? reason.replaceAll('_', ' ');

export const plural = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

export type Zone = 'local' | 'UTC';

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: Zone, fields: 'clock' | 'day' | 'minute'): Intl.DateTimeFormat {
  const name = `${zone} ${fields}`;
  const made =
    formats.get(name) ??
    new Intl.DateTimeFormat('en-GB', {
      ...(zone === 'UTC' && { timeZone: 'UTC' }),
      hourCycle: 'h23',
      ...(fields === 'day' && { year: 'numeric', month: '2-digit', day: '2-digit' }),
      ...(fields !== 'day' && { hour: '2-digit', minute: '2-digit' }),
      ...(fields === 'clock' && { second: '2-digit' }),
    });
  formats.set(name, made);
  return made;
}

const dateOf = (time: string | number): Date => new Date(time);

/** `18:43:59` */
export const clock = (time: string | number, of: Zone = zone.value): string =>
  formatOf(of, 'clock').format(dateOf(time));
export const minute = (time: string | number, of: Zone = zone.value): string =>
  formatOf(of, 'minute').format(dateOf(time));

/** `2026-11-28` */
export const day = (time: string | number, of: Zone = zone.value): string =>
  formatOf(of, 'day').format(dateOf(time)).split('/').toReversed().join('-');

/** `UTC`, `UTC+5:30` */
export function offset(time: string | number, of: Zone = zone.value): string {
  const minutes = of === 'UTC' ? 0 : -dateOf(time).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  const rest = size % 60;
  return `UTC${minutes < 0 ? '-' : '+'}${Math.floor(size / 60)}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

/** `2026-11-28 18:43:59 UTC` */
export const moment = (time: string | number, of: Zone = zone.value): string =>
  `${day(time, of)} ${clock(time, of)} ${offset(time, of)}`;
