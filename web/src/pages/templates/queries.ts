/** What this page reads and makes. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type NavigateOptions, useNavigate } from "react-router";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { showProblem } from "~/parts/problem";
import type { Body, Stored } from "./draft";

export function useTemplates() {
  return useQuery({ queryKey: keys.templates, queryFn: () => ask(api.GET("/v1/templates")) });
}

export function useVariables() {
  return useQuery({
    queryKey: [...keys.templates, "variables"],
    queryFn: () => ask(api.GET("/v1/templates/variables")),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Make a template and open it. */
export function useCreate(onMade?: () => void, options?: NavigateOptions) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (body: Body) => ask(api.POST("/v1/templates", { body })),
    onSuccess: async (made) => {
      client.setQueryData<Stored[]>(keys.templates, (all) => [...(all ?? []), made]);
      onMade?.();
      await navigate(pathOf(made.id), options);
      void client.invalidateQueries({ queryKey: keys.templates, exact: true });
    },
    onError: showProblem,
  });
}

export const pathOf = (templateId: string) => `/prompt-templates/${encodeURIComponent(templateId)}`;
