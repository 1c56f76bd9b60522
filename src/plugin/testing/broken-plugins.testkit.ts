import type { CheckRule } from './finding.ts';

/** A kind of broken plugin, as its author writes it: `body` is that of the middleware. */
export interface BrokenPlugin {
  readonly kind: string;
  /** The rule that finds it; of those with a `process`, a rule of the command. */
  readonly rule: CheckRule | 'loads' | 'process' | 'blocks';
  readonly body?: string;
  /** In place of `body`: what `create` does, with `host`. */
  readonly create?: string;
  /** More keys of the definition. */
  readonly more?: string;
  /** Source that stands before the definition. */
  readonly before?: string;
  /** In place of a plugin. */
  readonly module?: string;
  /** It ends or blocks its process, or cannot be loaded. */
  readonly process?: true;
}

const MAIL = String.raw`/[\w.+-]+@[\w.-]+/g`;

/** Kinds of broken plugins that were tried by hand, each with the rule that finds it. */
export const BROKEN_PLUGINS: readonly BrokenPlugin[] = [
  {
    kind: 'an undescribed option',
    rule: 'options-described',
    more: `options: { ...none, properties: { a: { type: 'string' } } }`,
  },
  { kind: 'open options', rule: 'options-closed', more: `options: { type: 'object', properties: {} }` },
  {
    kind: 'a default that its schema refuses',
    rule: 'options-default',
    more: `options: { ...none, properties: { a: { type: 'integer', default: 'no', description: 'A.' } } }`,
  },
  {
    kind: 'an option that takes everything',
    rule: 'options-refuse',
    more: `options: { ...none, properties: { a: { description: 'A.' } } }`,
  },
  { kind: 'a create that throws', rule: 'create', create: `throw new Error('no file')` },
  { kind: 'a create that returns nothing', rule: 'create', create: '' },
  { kind: 'hooks that it does not declare', rule: 'create', create: 'return { request() {} }' },
  { kind: 'next() twice', rule: 'next-once', body: 'await next(); await next();' },
  { kind: 'next() without await', rule: 'next-awaited', body: 'next();' },
  { kind: 'next() after its end', rule: 'next-late', body: 'await next(); setTimeout(next);' },
  { kind: 'neither next() nor a reply', rule: 'replies', body: '' },
  {
    kind: 'a write into the body',
    rule: 'frozen-body',
    body: `ctx.exchange.request.body.json().model = 'x'; await next();`,
  },
  { kind: 'a throw before next()', rule: 'errors', body: 'ctx.nothing.here; await next();' },
  { kind: 'a throw after next()', rule: 'errors', body: 'await next(); ctx.nothing.here;' },
  {
    kind: 'a body that it takes for a Buffer',
    rule: 'errors',
    body: 'await next(); JSON.parse(ctx.exchange.reply.body.toString());',
  },
  {
    kind: 'a throw in a wrapper',
    rule: 'errors',
    body: 'await next(); const { reply } = ctx.exchange; if (!Buffer.isBuffer(reply.body)) { reply.body = new api.WrappedSource(reply.body); reply.body.push = () => ctx.nothing.here; }',
  },
  {
    kind: 'a wrapper that swallows the reply',
    rule: 'reply-passes',
    body: 'await next(); const { reply } = ctx.exchange; if (!Buffer.isBuffer(reply.body)) { reply.body = new api.WrappedSource(reply.body); reply.body.push = () => {}; }',
  },
  {
    kind: 'a header with a line break',
    rule: 'reply',
    body: String.raw`await next(); ctx.exchange.reply.headers['x-a'] = 'a\nb';`,
  },
  { kind: 'a status that is none', rule: 'reply', body: 'await next(); ctx.exchange.reply.status = 42;' },
  { kind: 'an object as a body', rule: 'reply', body: 'await next(); ctx.exchange.reply.body = { a: 1 };' },
  {
    kind: 'a rejected promise without a handler',
    rule: 'rejections',
    body: `Promise.reject(new Error('loose')); await next();`,
  },
  {
    kind: 'a sleep that outlives the client',
    rule: 'cancellation',
    create: 'return async (ctx, next) => { await host.clock.sleep(60_000); await next(); }',
  },
  {
    kind: 'pure, with a counter',
    rule: 'pure',
    more: 'pure: true',
    create: `let count = 0; return async (ctx, next) => { await next(); ctx.exchange.reply.headers['x-count'] = String(count++); }`,
  },
  {
    kind: 'pure, with a file',
    rule: 'pure',
    more: 'pure: true',
    before: `import { existsSync } from 'node:fs';`,
    body: `existsSync('/'); await next();`,
  },
  {
    kind: 'pure, with a call',
    rule: 'pure',
    more: 'pure: true',
    before: `import { connect } from 'node:net';`,
    body: `connect(45_999, '127.0.0.1').on('error', () => {}).unref(); await next();`,
  },
  {
    kind: 'a close that fails',
    rule: 'close',
    create: `host.onClose(() => { throw new Error('closed twice'); }); return (ctx, next) => next();`,
  },
  {
    kind: 'a close that succeeds once',
    rule: 'close',
    create: `let file = {}; host.onClose(() => { file.handle = file.end; file = undefined; }); return (ctx, next) => next();`,
  },
  {
    kind: 'a timer that is left',
    rule: 'leaks',
    create: 'setInterval(() => {}, 60_000); return (ctx, next) => next();',
  },
  {
    kind: 'a listener of the process that is left',
    rule: 'leaks',
    create: `process.on('beforeExit', () => {}); return (ctx, next) => next();`,
  },
  {
    kind: 'a list of all requests',
    rule: 'growth',
    create: 'const all = []; return async ({ exchange }, next) => { all.push(exchange); await next(); }',
  },
  {
    kind: 'a mask that misses a split match',
    rule: 'same-text',
    more: `reads: { reply: 'texts' }`,
    create: `return { reply: () => (text) => text.replaceAll(${MAIL}, '[EMAIL]') }`,
  },
  { kind: 'a wait without an end', rule: 'ends', body: 'await new Promise(() => {});' },
  { kind: 'a module without a plugin', rule: 'loads', module: 'export default {};', process: true },
  { kind: 'a module that throws', rule: 'loads', module: `throw new Error('no licence');`, process: true },
  { kind: 'an exit', rule: 'process', body: 'process.exit(3);', process: true },
  {
    kind: 'a throw in a timer',
    rule: 'process',
    body: `setTimeout(() => { throw new Error('later'); }); await next();`,
    process: true,
  },
  { kind: 'a loop without an end', rule: 'blocks', body: 'for (;;);', process: true },
];

/** The name of the plugin: that of its kind in kebab-case. */
export const nameOf = ({ kind }: Pick<BrokenPlugin, 'kind'>): string =>
  kind
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** The source of a module with this plugin. @param api module specifier of the plugin API */
export function sourceOf(broken: BrokenPlugin, api: string): string {
  const { body, create, more, before = '', module } = broken;
  if (module !== undefined) return module;
  const made = create ?? `return async (ctx, next) => { ${body ?? ''} };`;
  return `import * as api from ${JSON.stringify(api)};
${before}
const none = { type: 'object', additionalProperties: false, properties: {} };
export default api.definePlugin({
  name: '${nameOf(broken)}',
  level: 'request',
  ${more?.includes('options:') ? '' : 'options: none,'}
  ${more === undefined ? '' : `${more},`}
  create({ host }) { ${made} },
});
`;
}
