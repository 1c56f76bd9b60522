import { spliceTexts } from '../../../core/kernel/body/edits.ts';
import { unlessRefused } from '../../../core/kernel/errors.ts';
import { scanTopLevel, type FieldSpan, type JsonLimits, type TopLevel } from '../../../core/kernel/body/json-scan.ts';

/** A JSON object whose top-level values are read and replaced in place. */
export interface Frame {
  readonly bytes: Buffer;
  readonly topLevel: TopLevel;
}

/** Undefined for bytes that are no JSON object within the limits. */
export const readFrame = (bytes: Buffer, limits: JsonLimits): Frame | undefined =>
  unlessRefused(() => ({ bytes, topLevel: scanTopLevel(bytes, limits) }));

export function jsonOf({ bytes, topLevel }: Frame, name: string): string | undefined {
  const span = topLevel.get(name);
  return span && bytes.toString('utf8', span.from, span.to);
}

export function textOf(frame: Frame, name: string): string | undefined {
  return frame.topLevel.get(name)?.kind === 'string' ? (JSON.parse(jsonOf(frame, name)!) as string) : undefined;
}

export const isFalse = (frame: Frame, name: string): boolean => jsonOf(frame, name) === 'false';

/** @param texts JSON texts of top-level values; undefined: without the value */
export const withTexts = ({ bytes, topLevel }: Frame, texts: ReadonlyMap<string, string | undefined>): Buffer =>
  spliceTexts(bytes, topLevel, texts);

/** The items of an input as JSON texts between commas; undefined for an input of another type. */
export function itemsOf(frame: Frame): string | undefined {
  const span: FieldSpan | undefined = frame.topLevel.get('input');
  if (!span) return '';
  const json = jsonOf(frame, 'input')!;
  if (span.kind === 'string') return `{"type":"message","role":"user","content":${json}}`;
  return span.kind === 'array' ? json.slice(1, -1).trim() : undefined;
}

export const joinItems = (...lists: readonly string[]): string => lists.filter((list) => list !== '').join(',');
