import type { Tool } from '../conversation.ts';
import type { LossReport } from './losses.ts';
import { BodyPlace } from './place.ts';

/** Reports fields of single tools that only the API they were written for has. */
export function reportToolExtras(tools: readonly Tool[] | undefined, losses: LossReport, reason: string): void {
  tools?.forEach((tool, at) => {
    if (tool.type !== 'function' || !tool.extras) return;
    const place = BodyPlace.item('tools', at);
    for (const key of Object.keys(tool.extras)) losses.dropped(BodyPlace.field(place, key), reason);
  });
}
