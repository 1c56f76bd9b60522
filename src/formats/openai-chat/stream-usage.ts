import type { BodyEdit, BodyView } from '../body-view.ts';
import type { JsonSpan } from '../json/members.ts';
import { topLevelMember, valueOf } from './json-span.ts';

/**
 * The edit that requests usage of a stream: without it the gateway could not count what the reply costs. Undefined where the caller
 * requests it. The client of an edited request gets no usage.
 */
export function usageRequest(body: BodyView): BodyEdit | undefined {
  const options = body.has('stream_options') ? body.value('stream_options') : undefined;
  const given = typeof options === 'object' && options !== null ? options : {};
  if ('include_usage' in given && given.include_usage === true) return undefined;
  return { path: ['stream_options'], value: { ...given, include_usage: true }, source: 'gateway' };
}

/** A line of data that is not the first of its event: a comment or the event's name may stand before it. */
export const DATA_LINE = /[\r\n]data:/;

/** Finds the top-level `usage` of an event. JSON over several lines stays: no known server writes such chunks. */
export function usageMember(event: string): JsonSpan | undefined {
  if (valueOf(event, '"usage"') < 0) return undefined;
  const from = event.startsWith('data:') ? 0 : event.search(DATA_LINE) + 1;
  const line = /^[^\r\n]*/.exec(event.slice(from))![0];
  const to = from + line.length;
  if (DATA_LINE.test(event.slice(to))) return undefined;
  const member = topLevelMember(line, '"usage"');
  return member && { from: from + member.from, to: from + member.to };
}
