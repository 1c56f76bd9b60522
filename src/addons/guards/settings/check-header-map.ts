import type { ChainItem, Chains } from '../../../../schemas/types.generated.ts';
import { isChanges } from '../../../core/http/chain/chain-changes.ts';
import { instanceOf, pluginOf } from '../../../core/http/chain/list-part.ts';
import { isObject } from '../../../core/kernel/index.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { itemsOf, within } from '../../../core/settings/checks/check.ts';
import { neverForwarded, steeringOf, type ForwardRules } from '../../../core/settings/checks/forward-headers.ts';

/** Refuses headers of each `header-map` that may hold a credential or are the gateway's own, on both sides of the map. */
export function checkHeaderMaps(chain: Chains['entry'], rules: ForwardRules, report: Report): void {
  if (!chain) return;
  const changes = isChanges(chain) ? chain : undefined;
  const items: readonly (readonly [ChainItem, Report])[] = isChanges(chain)
    ? itemsOf(chain.add, report, 'add')
    : itemsOf(chain, report);
  for (const [item, at] of items) {
    if (pluginOf(item) !== 'header-map') continue;
    if (typeof item === 'object') checkOptions(item.options, rules, within(at, 'options'));
    const name = instanceOf(item);
    checkOptions(changes?.options?.[name], rules, within(report, 'options', name));
  }
}

function checkOptions(options: unknown, rules: ForwardRules, report: Report): void {
  const { metadata, upstream } = isObject(options) ? options : {};
  for (const [key, map] of [
    ['metadata', metadata],
    ['upstream', upstream],
  ] as const) {
    if (!isObject(map)) continue;
    const at = within(report, key);
    const taken = new Set<string>();
    for (const [from, to] of Object.entries(map)) {
      const refuse = (name: string, on?: 'key'): void => {
        const reason = neverForwarded(name.toLowerCase(), rules);
        if (reason !== undefined)
          at({ path: [from], message: `\`${name}\` ${reason} and is never mapped`, ...(on && { on }) });
      };
      refuse(from, 'key');
      if (typeof to !== 'string') continue;
      const target = key === 'upstream' ? to.toLowerCase() : to;
      if (taken.has(target)) at({ path: [from], message: `another header is mapped to \`${to}\`` });
      taken.add(target);
      if (key !== 'upstream') continue;
      refuse(to);
      const steering = steeringOf(target);
      if (steering) at({ path: [from], message: `\`${to}\` ${steering.effect}: callers would control this` });
    }
  }
}
