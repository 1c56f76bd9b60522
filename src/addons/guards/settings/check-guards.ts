import { Secret } from '../../../plugin/index.ts';
import { pluginOf } from '../../../core/http/chain/list-part.ts';
import { signingKey, WRONG_SECRET } from '../../../core/kernel/webhook-signature.ts';
import { isInstalled } from '../../../core/kernel/on-demand.ts';
import type { ChainItem, Guard } from '../../../../schemas/types.generated.ts';
import { isChanges } from '../../../core/http/chain/chain-changes.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { patternMistake } from '../../../core/settings/query/patterns.ts';
import { forwardRules } from '../../../core/settings/checks/forward-headers.ts';
import { itemsOf, within, type Check } from '../../../core/settings/checks/check.ts';
import { guardsIn, PORTKEY_KEYS } from '../portkey/guards-in.ts';
import { actionOf, CHECKS, type CheckName } from './check-options.ts';
import { checkHeaderMaps } from './check-header-map.ts';
import { readGuardOptions } from './guard-options.ts';
import { longestMatch } from './longest-match.ts';
import { INSTALL } from './optional-peers.ts';
import { placesOf } from './places.ts';

/** Checks guards where they are: options, actions that a check cannot take, and chains that would leave them out. */
export const checkGuards: Check = (settings) => ({
  server(file, report) {
    checkList(file.guards, report);
    const places = placesOf({ server: file, keys: settings.keys ?? { keys: [] }, gateway: settings.gateway });
    const chains = within(report, 'chains');
    const { entry, request, attempt } = file.chains ?? {};
    checkHeaderMaps(entry, forwardRules(settings), within(chains, 'entry'));
    if (
      file.portkey_statuses &&
      entry &&
      !isChanges(entry) &&
      !entry.some((item) => pluginOf(item) === 'portkey-statuses')
    )
      chains({ path: ['entry'], message: NO_STATUSES });
    // Changes of a default chain keep its guards, which are there with `always: true`.
    if (places.request && request && !isChanges(request)) checkChain(request, 'guards', within(chains, 'request'));
    if (places.target && attempt && !isChanges(attempt))
      checkChain(attempt, 'target-guards', within(chains, 'attempt'));
  },
  key: ({ guards }, report) => checkList(guards, report),
  node({ file }, report) {
    const { plugins } = file;
    const { inline } = settings;
    const added = plugins && isChanges(plugins);
    const named = added ? itemsOf(plugins.add, within(report, 'plugins'), 'add') : itemsOf(plugins, report, 'plugins');
    for (const [item, at] of named) if (PLACES.has(pluginOf(item))) at({ path: [], message: placed(pluginOf(item)) });
    if (inline && added)
      for (const [{ after }, at] of itemsOf(plugins.add, within(report, 'plugins'), 'add'))
        if (after !== undefined && PLACES.has(after)) at({ path: ['after'], message: BEHIND });
    for (const key of ['guards', ...Object.keys(PORTKEY_KEYS)])
      if (inline && Object.hasOwn(file, key)) report({ path: [key], on: 'key', message: ofOperator(key) });
    if (inline) return;
    for (const key of Object.keys(PORTKEY_KEYS))
      if (Object.hasOwn(file, key))
        report({
          path: [key],
          on: 'key',
          severity: 'warning',
          message: `\`${key}\` is Portkey's word: write \`guards\` here`,
        });
    checkList(file.guards, report);
    guardsIn(file, report, checkGuard);
  },
});

const NO_STATUSES =
  '`portkey_statuses` needs `{ plugin: portkey-statuses, always: true }` in this chain, before `errors`';

const ofOperator = (key: string): string =>
  `a config sent with a request cannot set \`${key}\`: the guards of the server and of the key hold for it`;

/** The plugins that run guards: what stands before each of them in a chain, and what behind it. */
const PLACES: ReadonlyMap<string, { readonly after: readonly string[]; readonly before: readonly string[] }> = new Map([
  ['guards', { after: ['prompts', 'metadata'], before: ['route'] }],
  ['target-guards', { after: ['override'], before: ['cache', 'transform'] }],
]);

const placed = (plugin: string): string =>
  `the plugin "${plugin}" stands where the chain of server.yaml has it: leave it out of this list`;

const BEHIND = 'a config sent with a request puts no plugin behind the guards: write `before`';

/** A chain that server.yaml names is not changed by the gateway. */
function checkChain(chain: readonly ChainItem[], plugin: string, report: Report): void {
  const names = chain.map(pluginOf);
  const { after, before } = PLACES.get(plugin)!;
  const at = names.indexOf(plugin);
  const item = chain[at];
  const isAlways = typeof item === 'object' && item.always === true;
  const isPlaced =
    after.every((name) => names.lastIndexOf(name) < at) &&
    before.every((name) => !names.includes(name) || at < names.indexOf(name));
  if (isAlways && isPlaced) return;
  report({
    path: [],
    message: `there are guards, and this chain would leave them out: it needs \`{ plugin: ${plugin}, always: true }\` before \`${before.join('` and `')}\`, behind \`${after.join('` and `')}\``,
  });
}

function checkList(guards: readonly Guard[] = [], report: Report): void {
  const names = new Set<string>();
  for (const [guard, at] of itemsOf(guards, report, 'guards')) {
    if (names.has(guard.name)) at({ path: ['name'], message: `another guard of this list is named "${guard.name}"` });
    names.add(guard.name);
    checkGuard(guard, at);
  }
}

function checkGuard(guard: Guard, report: Report): void {
  const { check, on = ['input'], hold, only } = guard;
  const facts = CHECKS[check];
  const action = actionOf(guard);
  if (action === 'mask' && !facts.masks)
    report({ path: ['action'], message: `the check \`${check}\` replaces no text: write \`deny\` or \`observe\`` });
  if (facts.ofRequest && on.includes('output'))
    report({ path: ['on'], message: `the check \`${check}\` reads requests: write \`on: [input]\`` });
  if (hold && (action === 'observe' || !on.includes('output')))
    report({
      path: ['hold'],
      on: 'key',
      severity: 'warning',
      message: '`hold` has no effect: the guard holds no reply',
    });
  if (only?.roles && !on.includes('input'))
    report({
      path: ['only', 'roles'],
      on: 'key',
      severity: 'warning',
      message: '`roles` has no effect: the guard reads no request',
    });
  const options = readGuardOptions(guard, report);
  if (options) CHECKED[check]?.({ guard, options, report });
}

interface CheckedOptions {
  readonly guard: Guard;
  readonly options: Readonly<Record<string, unknown>>;
  readonly report: Report;
}

/** Mistakes that the schemas of options cannot express. */
const CHECKED: Readonly<Partial<Record<CheckName, (checked: CheckedOptions) => void>>> = {
  regex: checkPattern,
  text({ options, report }) {
    for (const key of ['pattern', 'not_pattern']) {
      const pattern = options[key];
      const mistake = typeof pattern === 'string' ? patternMistake(pattern) : undefined;
      if (mistake !== undefined)
        report({ path: ['options', key], message: mistake.replaceAll('`$regex`', `\`${key}\``) });
    }
  },
  pii({ options: { countries }, report }) {
    if (countries !== undefined && !isInstalled('libphonenumber-js'))
      report({ path: ['options', 'countries'], on: 'key', message: INSTALL['libphonenumber-js'] });
  },
  jwt({ options, report }) {
    if (!isInstalled('jose')) report({ path: ['check'], message: INSTALL.jose });
    if ((options['jwks'] === undefined) === (options['jwks_url'] === undefined))
      report({ path: ['options'], on: 'key', message: NO_KEYS });
    checkAddress('jwks_url', options, report);
  },
  webhook({ options, report }) {
    checkAddress('url', options, report);
    const { secret } = options;
    if (secret instanceof Secret && !signingKey(secret)) report({ path: ['options', 'secret'], message: WRONG_SECRET });
  },
};

const NO_KEYS = 'the check `jwt` needs the keys of the issuer: `jwks_url` or `jwks`';

function checkAddress(key: string, options: CheckedOptions['options'], report: Report): void {
  const address = options[key];
  if (typeof address !== 'string') return;
  const { protocol } = URL.parse(address) ?? {};
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && options['allow_insecure'] === true);
  if (!isAllowed)
    report({
      path: ['options', key],
      message: `\`${key}\` is the address of an https server, of an http server only with \`allow_insecure: true\``,
    });
}

function checkPattern({ guard, options, report }: CheckedOptions): void {
  const source = String(options['pattern']);
  const mistake = patternMistake(source);
  const at = within(report, 'options', 'pattern');
  if (mistake !== undefined) return at({ path: [], message: mistake.replaceAll('`$regex`', '`pattern`') });
  const holds = guard.on?.includes('output') && actionOf(guard) !== 'observe' && guard.hold?.mode !== 'all';
  if (!holds || options['longest'] !== undefined || longestMatch(source) !== undefined) return;
  at({
    path: [],
    severity: 'warning',
    message:
      'a match of this pattern has no longest length, so that a stream waits for its end: bound its repeats, as in `{1,64}`, or write `hold: { mode: all }`',
  });
}
