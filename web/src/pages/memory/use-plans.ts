/** Plans: read again now and then, because they are said, and found in conversations, without anybody's doing. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { showProblem } from "~/parts/problem";

import { useChanger, useView } from "./view";

export type Plan = Schemas["PlanOut"];
export type PlanEdit = Schemas["PlanEdit"];

const EVERY_MS = 10_000;

export function usePlans(soulId: string) {
  const { userId } = useView();
  const params = { path: { soul_id: soulId }, query: { user_id: userId, limit: 500 } };
  return useQuery({
    queryKey: keys.soul(soulId, "plans", userId),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/plans", { params })),
    refetchInterval: EVERY_MS,
  });
}

/** What lies ahead, what waits to be settled, and what is past with the last first. */
export function grouped(plans: Plan[]): { upcoming: Plan[]; asking: Plan[]; past: Plan[] } {
  const isAhead = (plan: Plan) => plan.status === "open" || plan.status === "delivering";
  const isPast = (plan: Plan) => !isAhead(plan) && plan.status !== "unsure";
  return {
    upcoming: plans.filter(isAhead),
    asking: plans.filter((plan) => plan.status === "unsure"),
    past: plans.filter(isPast).reverse(),
  };
}

function usePlanOf(soulId: string) {
  const changer = useChanger();
  return (plan: Plan) => ({
    path: { soul_id: soulId, plan_id: plan.plan_id },
    query: { user_id: changer(plan.user_id) ?? plan.user_id },
  });
}

export function useChangePlan(soulId: string, onDone?: () => void) {
  const client = useQueryClient();
  const planOf = usePlanOf(soulId);
  return useMutation({
    mutationFn: ({ plan, body }: { plan: Plan; body: PlanEdit }) =>
      ask(api.PATCH("/v1/souls/{soul_id}/plans/{plan_id}", { params: planOf(plan), body })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId, "plans") });
      onDone?.();
    },
    onError: showProblem,
  });
}

export function useDeletePlan(soulId: string) {
  const client = useQueryClient();
  const planOf = usePlanOf(soulId);
  return useMutation({
    mutationFn: (plan: Plan) => ask(api.DELETE("/v1/souls/{soul_id}/plans/{plan_id}", { params: planOf(plan) })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.soul(soulId, "plans") }),
    onError: showProblem,
  });
}
