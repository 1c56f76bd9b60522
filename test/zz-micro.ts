import { membersWriter } from '/work/main/src/core/record/fields/line-text.ts';
import { REQUEST_FIELDS } from '/work/main/src/core/record/fields/request-fields.ts';
import { LineParts } from '/work/main/src/core/record/fields/line-parts.ts';
import { valuesReader } from '/work/main/src/core/record/fields/record-values.ts';
import { lineOf } from '/work/wt/record42/src/core/record/fields/line.generated.ts';
import { valuesOf } from '/work/wt/record42/src/core/record/fields/values.generated.ts';
import { recordOf } from '/work/wt/record42/src/core/record/make-record.ts';
import { boundRecord } from '/work/wt/record42/src/core/record/bounded-record.ts';
import * as T from '/work/wt/record42/src/core/record/exchange.testkit.ts';
import { anyRecord } from '/work/wt/record42/src/core/record/records.testkit.ts';
import fc from 'fast-check';
import assert from 'node:assert';
import { randomUUID, randomBytes } from 'node:crypto';
const members = membersWriter(REQUEST_FIELDS, ',');
const oldValues = valuesReader(REQUEST_FIELDS);
const records: any[] = [];
for (let i = 0; i < 64; i++) {
  const exchange = T.exchangeOf({ id: randomUUID(), trace: { traceId: randomBytes(16).toString('hex') } as any, json: { model: 'x', messages: [] }, reply: T.replyOf(false), headers: {'user-agent': 'node'} });
  exchange.attempts.push(T.attemptOf({ reply: T.replyOf(false), resolved: T.anthropic, tries: [T.tryOf(5, 1300 + i, {})], signals: T.signalsOf({ usage: { input: 1000, output: 200+i, total: 1200+i }, finish: 'stop', model: 'm-002', ended: true }) }));
  records.push(boundRecord(recordOf(exchange, T.endOf(), { endedAt: 1305.1234 + i*1.017, receivedAt: Date.now() + i })));
}
const mixed = records.map((r, i) => i % 2 ? r : { ...r, keyId: 'other', attempts: r.attempts.map((a: any) => ({ ...a, place: { ...a.place, model: 'gpt-x' }, responseModel: 'gpt-x-1' })) });
const buffer = Buffer.allocUnsafeSlow(16384);
const line = new LineParts();
const old = (r: any) => { line.clear(); line.add('x'); members(r, line); line.add('y'); return line.toString(); };
fc.assert(fc.property(anyRecord, (r) => { assert.equal(lineOf('x', r) + 'y', old(r)); assert.equal(JSON.stringify(valuesOf(r)), JSON.stringify(oldValues(r))); }), { numRuns: 3000 });
console.log('equal');
function bench(name: string, f: (rs: any[]) => void, rs = records) {
  for (let i = 0; i < 3000; i++) f(rs);
  let best = Infinity;
  for (let r = 0; r < 4000; r++) { const t = process.hrtime.bigint(); for (let i = 0; i < 4; i++) f(rs); best = Math.min(best, Number(process.hrtime.bigint() - t) / 4 / 64); }
  return best;
}
const OLD = (rs: any[]) => { for (const r of rs) { line.clear(); line.add('x'); members(r, line); line.add('y'); line.writeTo(buffer, 0); } };
const NEW = (rs: any[]) => { for (const r of rs) buffer.write(lineOf('x', r) + 'y', 0); };
const OLDV = (rs: any[]) => { for (const r of rs) oldValues(r); };
const NEWV = (rs: any[]) => { for (const r of rs) valuesOf(r); };
for (let k = 0; k < 3; k++) console.log('line old', bench('', OLD).toFixed(0), 'new', bench('', NEW).toFixed(0), '| mixed old', bench('', OLD, mixed).toFixed(0), 'new', bench('', NEW, mixed).toFixed(0), '| values old', bench('', OLDV).toFixed(0), 'new', bench('', NEWV).toFixed(0));
function alloc(f: (rs: any[]) => void) { globalThis.gc?.(); for (let i = 0; i < 20; i++) f(records); gc!(); const b = process.memoryUsage().heapUsed; for (let i = 0; i < 40; i++) f(records); return (process.memoryUsage().heapUsed - b) / 40 / 64; }
console.log('alloc per record: line old', alloc(OLD), 'new', alloc(NEW), 'values', alloc(OLDV), alloc(NEWV));
