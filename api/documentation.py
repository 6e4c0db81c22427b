"""`/docs`: Swagger UI for all endpoints, served from this server alone, so that it works without internet access."""

from fastapi import APIRouter
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

router = APIRouter()
router.mount("/docs/assets", StaticFiles(packages=[("fastapi_swagger", "resources")]))


@router.get("/docs", include_in_schema=False)
async def docs() -> HTMLResponse:
    """URLs are relative, so that the page also works behind a proxy that serves it under another path."""
    return get_swagger_ui_html(
        title="soulgraph",
        openapi_url="openapi.json",
        swagger_js_url="docs/assets/swagger-ui-bundle.js",
        swagger_css_url="docs/assets/swagger-ui.css",
        swagger_favicon_url="docs/assets/favicon-32x32.png",
        swagger_ui_parameters={"validatorUrl": None},  # otherwise the page asks swagger.io to check our schema
    )
