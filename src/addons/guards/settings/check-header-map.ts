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
  for (const key of ['metadata', 'upstream'] as const) {
    const map = isObject(options) ? options[key] : undefined;
    if (!isObject(map)) continue;
    const at = within(report, key);
    const taken = new Set<string>();
    for (const [from, to] of Object.entries(map)) {
      const refuse = (name: string, on?: 'key'): void => {
        const reason = neverForwarded(name.toLowerCase(), rules);
        const steering = on ? undefined : steeringOf(name.toLowerCase());
        const effect = steering && `${steering.effect}: callers would control it`;
        const message = reason === undefined ? effect : `${reason} and is never mapped`;
        if (message !== undefined) at({ path: [from], message: `\`${name}\` ${message}`, ...(on && { on }) });
      };
      refuse(from, 'key');
      if (typeof to !== 'string') continue;
      const target = key === 'upstream' ? to.toLowerCase() : to;
      if (taken.has(target)) at({ path: [from], message: `another header is mapped to \`${to}\`` });
      taken.add(target);
      if (key === 'upstream') refuse(to);
    }
  }
}
