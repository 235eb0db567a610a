// Answers OPTIONS, without an operation, a key or an upstream. Throws the codes of admit, throttle and match.

import type { Admitted, Arrived } from '../../exchange/exchange.ts';

export interface AnswerOptionsOptions {
  admit(arrived: Arrived): Admitted;
  throttle(admitted: Admitted): void;
  allowedMethods(admitted: Admitted): readonly string[];
}

export function createAnswerOptions({ admit, throttle, allowedMethods }: AnswerOptionsOptions) {
  return async function answerOptions(arrived: Arrived): Promise<void> {
    const admitted = admit(arrived);
    arrived.trail.stage = 'throttle';
    throttle(admitted);
    arrived.trail.stage = 'match';
    const allow = allowedMethods(admitted).join(', ');
    arrived.trail.status = 204;
    arrived.response.writeHead(204, [...arrived.commonHeaders, 'Allow', allow, 'Cache-Control', 'no-store']);
    arrived.response.end();
  };
}
