import { useSignal } from '@preact/signals';
import { useAction } from '../../api/action.ts';
import { api, ask } from '../../api/client.ts';
import { needs } from '../../api/session.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { setQuery } from '../../address.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Remove } from '../../parts/remove.tsx';
import { Action, Problem } from '../../parts/states.tsx';

interface DetailProps {
  readonly webhook: ApiSchemas['alert'];
  readonly onChange: () => void;
}

/** A webhook, a test of it, and its end. */
export function WebhookDetail({ webhook, onChange }: DetailProps) {
  const { id, spec, owner, etag } = webhook;
  const remove = async (): Promise<void> => {
    await ask(api.DELETE('/alerts/{id}', { params: { path: { id }, header: { 'If-Match': etag } } }));
    setQuery({ row: undefined });
    onChange();
  };
  return (
    <Drawer label={`Webhook ${id}`} name="row" head={<h2>{id}</h2>}>
      <Facts
        of={[
          ['Kinds', spec.kinds?.join(' ') ?? 'all'],
          ['Nodes', <span class="mono">{spec.nodes?.join(' ') ?? 'all'}</span>],
          ['Address', 'written, and never shown'],
          ['Where it is', owner === 'store' ? 'in the store' : `in ${owner}`],
        ]}
      />
      <Test id={id} />
      {owner === 'store' ? (
        <p>
          <Remove id={id} verb="Delete the webhook" remove={remove}>
            <p>It gets no alert any more. Alerts that wait for it are lost; the log has them.</p>
          </Remove>
        </p>
      ) : (
        <p class="second">The webhook is in {owner}: change it there. The gateway reloads the file.</p>
      )}
    </Drawer>
  );
}

function Test({ id }: { readonly id: string }) {
  const tested = useSignal<ApiSchemas['alert_delivery'] | undefined>(undefined);
  const test = useAction(async () => {
    tested.value = undefined;
    tested.value = await ask(api.POST('/alerts/{id}:test', { params: { path: { id } } }));
  });
  const { value } = tested;
  return (
    <>
      <p>
        <Action needs={needs('operator')} busy={test.busy.value} onClick={test.run}>
          Test
        </Action>
      </p>
      <div role="status">
        {value &&
          (value.state === 'delivered' ? (
            <p class="notice ok">The webhook has taken the test.</p>
          ) : (
            <p class="notice failed">The webhook has not taken the test: {value.problem ?? 'unknown'}</p>
          ))}
      </div>
      {test.error.value && <Problem error={test.error.value} />}
    </>
  );
}
