{-# LANGUAGE FlexibleContexts #-}
{-# LANGUAGE OverloadedStrings #-}

-- | Steps with a definition, through its typed API, and its objects, which are documents.
module Custom (steps) where

import Data.Aeson (Value (..), object, toJSON, (.=))
import qualified Data.Map as Map
import Data.Text (Text)
import qualified Data.Vector as Vector
import Harness
import Kubernetes.OpenAPI
import qualified Kubernetes.OpenAPI.API.ApiextensionsV1 as Definitions
import Kubernetes.OpenAPI.API.CustomObjects
import Network.HTTP.Client (responseBody)

-- | Where the objects are: the client takes each part by itself.
data Place = Place Connection Text Namespace

steps :: Connection -> Text -> Text -> [(Text, Step)]
steps client space group =
  [ ("create a definition", always (define client group)),
    ("custom objects", always (objects place)),
    ("the status of a custom object", always (status place)),
    ("patches of custom objects", always (patches place)),
    ("the scale of a custom object", always (scale place)),
    ("list custom objects", always (list place)),
    ("a custom object without apiVersion and kind is refused", always (bare place)),
    ("delete a custom object", always (delete place)),
    ("delete the definition", always (undefine place))
  ]
  where
    place = Place client group (Namespace space)

v1 :: Version
v1 = Version "v1"

widgets :: Plural
widgets = Plural "widgets"

typed :: Text -> [(Text, Value)] -> Value
typed name properties = object ["type" .= name, "properties" .= Map.fromList properties]

define :: Connection -> Text -> IO ()
define client group = do
  let size = object ["type" .= text "integer", "minimum" .= (0 :: Int)]
      color = object ["type" .= text "string", "default" .= text "red"]
      spec = typed "object" [("size", size), ("color", color)]
      is name = object ["type" .= text name]
      state = typed "object" [("phase", is "string"), ("size", is "integer")]
      paths = object ["specReplicasPath" .= text ".spec.size", "statusReplicasPath" .= text ".status.size"]
      version =
        object
          [ "name" .= text "v1",
            "served" .= True,
            "storage" .= True,
            "subresources" .= object ["status" .= object [], "scale" .= paths],
            "schema" .= object ["openAPIV3Schema" .= typed "object" [("spec", spec), ("status", state)]]
          ]
      names =
        object
          [ "plural" .= text "widgets",
            "singular" .= text "widget",
            "kind" .= text "Widget",
            "listKind" .= text "WidgetList"
          ]
  new <-
    model $
      object
        [ "metadata" .= object ["name" .= ("widgets." <> group)],
          "spec" .= object ["group" .= group, "scope" .= text "Namespaced", "names" .= names, "versions" .= [version]]
        ]
  made <- send client (Definitions.createCustomResourceDefinition body json new)
  let schemas = v1CustomResourceDefinitionSpecVersions (v1CustomResourceDefinitionSpec made)
      down name properties = v1JSONSchemaPropsProperties properties >>= Map.lookup name
      schema = (v1CustomResourceValidationOpenApiv3Schema =<<) . v1CustomResourceDefinitionVersionSchema
      color' served = schema served >>= down "spec" >>= down "color"
  equal (map (\found -> color' found >>= v1JSONSchemaPropsDefault) schemas) [Just (String "red")]
  eventually "Established" $ do
    got <- send client (Definitions.readCustomResourceDefinition json (Name ("widgets." <> group)))
    let conditions = v1CustomResourceDefinitionStatus got >>= v1CustomResourceDefinitionStatusConditions
        holding condition =
          v1CustomResourceDefinitionConditionType condition == "Established"
            && v1CustomResourceDefinitionConditionStatus condition == "True"
    pure (maybe False (any holding) conditions)

-- | A widget, with the fields that the API of custom objects wants of all.
widget :: Place -> Text -> [(Text, Value)] -> Value
widget (Place _ group _) name fields =
  toJSON (Map.fromList (header ++ fields))
  where
    header =
      [ ("apiVersion", String (group <> "/v1")),
        ("kind", String "Widget"),
        ("metadata", object ["name" .= name])
      ]

create :: Place -> Value -> KubernetesRequest CreateNamespacedCustomObject MimeJSON Value MimeJSON
create (Place _ group space) new = createNamespacedCustomObject body (Body new) (Group group) v1 space widgets

get :: Place -> Text -> KubernetesRequest GetNamespacedCustomObject MimeNoContent Value MimeJSON
get (Place _ group space) name = getNamespacedCustomObject (Group group) v1 space widgets (Name name)

replace :: Place -> Value -> KubernetesRequest ReplaceNamespacedCustomObject MimeJSON Value MimeJSON
replace (Place _ group space) new =
  replaceNamespacedCustomObject body (Body new) (Group group) v1 space widgets (Name "one")

sized :: Int -> Value
sized size = object ["size" .= size]

whole :: Int -> Value
whole size = object ["size" .= size, "color" .= text "red"]

objects, status, patches, scale, list, bare, delete, undefine :: Place -> IO ()

objects place@(Place client _ _) = do
  one <- send client (create place (widget place "one" [("spec", sized 1)]))
  equal (at ["spec"] one) (whole 1)
  let revised = widget place "one" [("metadata", at ["metadata"] one), ("spec", sized 2)]
  two <- send client (replace place revised)
  equal (at ["spec"] two) (whole 2)
  _ <- refused 409 "Conflict" client (replace place revised)
  _ <- refused 422 "Invalid" client (create place (widget place "bad" [("spec", sized (-1))]))
  _ <- refused 404 "NotFound" client (get place "nothing")
  pure ()

status place@(Place client group space) = do
  one <- send client (get place "one")
  let ready = object ["phase" .= text "Ready"]
      new = widget place "one" [("metadata", at ["metadata"] one), ("spec", sized 9), ("status", ready)]
      put = replaceNamespacedCustomObjectStatus body json (Body new)
  got <- send client (put (Group group) v1 space widgets (Name "one"))
  equal (at ["spec"] got, at ["status"] got) (whole 2, ready)

patches (Place client group space) = do
  let merge = object ["spec" .= object ["color" .= Null, "size" .= (3 :: Int)]]
      replaced = [object ["op" .= text "replace", "path" .= text "/spec/size", "value" .= (4 :: Int)]]
  merged <- send client (patch MimeMergePatchjson merge)
  equal (at ["spec"] merged) (whole 3)
  got <- send client (patch MimeJsonPatchjson (toJSON replaced))
  equal (at ["spec"] got) (whole 4)
  where
    patch ::
      (Consumes PatchNamespacedCustomObject mime, MimeRender mime Body) =>
      mime -> Value -> KubernetesRequest PatchNamespacedCustomObject mime Value MimeJSON
    patch mime change =
      patchNamespacedCustomObject (ContentType mime) (Body change) (Group group) v1 space widgets (Name "one")

scale place@(Place client group space) = do
  let change = object ["spec" .= object ["replicas" .= (5 :: Int)]]
      patch = patchNamespacedCustomObjectScale (ContentType MimeMergePatchjson) json (Body change)
  _ <- send client (patch (Group group) v1 space widgets (Name "one"))
  got <- send client (get place "one")
  equal (at ["spec"] got) (whole 5)
  scaled <- send client (getNamespacedCustomObjectScale json (Group group) v1 space widgets (Name "one"))
  equal (at ["kind"] scaled, at ["spec", "replicas"] scaled) (String "Scale", toJSON (5 :: Int))

list place@(Place client group space) = do
  let labelled = object ["name" .= text "two", "labels" .= object ["is" .= text "two"]]
      everything = listNamespacedCustomObject json (Group group) v1 space widgets
  _ <- send client (create place (widget place "two" [("metadata", labelled)]))
  found <- send client everything
  equal (names found) [String "one", String "two"]
  some <- send client (everything -&- LabelSelector "is=two")
  equal (names some) [String "two"]
  where
    names found = case at ["items"] found of
      Array items -> map (at ["metadata", "name"]) (Vector.toList items)
      other -> [other]

bare place@(Place client _ _) = do
  _ <- refused 400 "BadRequest" client (create place (object ["metadata" .= object ["name" .= text "bare"]]))
  pure ()

delete place@(Place client group space) = do
  let request = deleteNamespacedCustomObject body (Group group) v1 space widgets (Name "one")
  _ <- send client (request `setBodyParam` mkV1DeleteOptions -&- PropagationPolicy "Background")
  eventually "the object has gone" (missing client (get place "one"))

undefine (Place client@(Connection manager config) group space) = do
  -- The reply is the definition, which goes after its objects, and not the Status that the client reads.
  let name = "widgets." <> group
  got <- dispatchLbs manager config (Definitions.deleteCustomResourceDefinition body json (Name name))
  gone <- decoded (responseBody got)
  equal (at ["kind"] gone, at ["metadata", "name"] gone) (String "CustomResourceDefinition", String name)
  eventually "the definition has gone" $
    missing client (listNamespacedCustomObject json (Group group) v1 space widgets)
