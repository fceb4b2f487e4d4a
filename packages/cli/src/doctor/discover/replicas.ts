import { pairsIn } from '../info.js';
import type { DoctorNode, NodeAddress } from '../node.js';

/** A replica as its primary reports it. */
export interface ReplicaState extends NodeAddress {
  readonly state: string;
  /** Bytes of the stream that it has acknowledged. */
  readonly offset: number;
  /** Seconds since its last message. */
  readonly lag: number;
}

export const replicaStatesOf = ({ info }: DoctorNode): ReplicaState[] =>
  info.matching(/^slave\d+$/).map((text) => {
    const { ip = '', port, state = '', offset, lag } = pairsIn(text);
    return { host: ip, port: Number(port), state, offset: Number(offset), lag: Number(lag) };
  });

/** Addresses of the replicas, as the primary reports them. */
export const replicasOf = (node: DoctorNode): NodeAddress[] =>
  replicaStatesOf(node)
    .map(({ host, port }) => ({ host, port }))
    .filter(({ host, port }) => host !== '' && port > 0);
